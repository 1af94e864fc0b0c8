// SPDX-License-Identifier: MIT
#include "why/event_sums.h"

#include <algorithm>
#include <utility>

namespace pmusim::why {

EventSums::EventSums(std::vector<events::SummedEvent> events) : events_(std::move(events)) {
  using enum events::SummedEvent::By;
  keep(Quantity::cycles);
  for (const events::SummedEvent& event : events_) {
    for (const events::SummedEvent::Term& term : event.terms) keep(term.quantity);
    if (event.by == signals) signals_ = signals_ | event.rule.all | event.rule.any | event.rule.none;
    if (event.by != cycles) continue;
    cycles_.push_back({.signals = event.rule.all, .place = row_size_++});
    signals_of_cycles_ = signals_of_cycles_ | event.rule.all;
  }
}

void EventSums::keep(Quantity quantity) {
  if (std::ranges::find(kept_, quantity, &Kept::quantity) != kept_.end()) return;
  if (!Pipeline::lost.has(quantity) && quantity != Quantity::cycles) asked_.add(quantity);
  places_[static_cast<std::size_t>(quantity)] = row_size_;
  kept_.push_back({.quantity = quantity, .place = row_size_++});
}

u32 EventSums::add_block(const trace::Block& block) {
  has_cycles_.push_back(std::ranges::any_of(block.instructions, [&](const x86::Instruction& instruction) {
    return instruction.signals.intersects(signals_of_cycles_);
  }));
  signal_counts_.emplace_back();
  rows_.resize(rows_.size() + row_size_);
  return static_cast<u32>(signal_counts_.size() - 1);
}

void EventSums::add(u32 block, const IntervalCore& core, const BlockExecution& execution,
                    RunningTotals& so_far) {
  u64* const sums = row(block);
  if (execution.jumps_within) {
    add_each(block, core, execution);
  } else {
    core.add_sum(asked_, so_far.quantities);
    so_far.quantities[static_cast<std::size_t>(Quantity::cycles)] += execution.cycles;
    for (const Kept& kept : kept_) sums[kept.place] += of(so_far.quantities, kept) - kept.seen;
    sums[refills_place] += so_far.refills - refills_seen_;
    if (may_have_cycles(block, core)) add_cycles(block, core, execution);
  }
  for (Kept& kept : kept_) kept.seen = of(so_far.quantities, kept);
  refills_seen_ = so_far.refills;
}

void EventSums::add_each(u32 block, const IntervalCore& core, const BlockExecution& execution) {
  core.retire(execution, [&](const Retirement& retirement) {
    for (const Kept& kept : kept_) row(block)[kept.place] += of(retirement.quantities, kept);
    row(block)[refills_place] +=
        retirement.quantities[static_cast<std::size_t>(Quantity::recovery_cycles)] != 0 ? 1 : 0;
    count(block, retirement.signals, 1);
    add_to_cycle(block, retirement.cycle, retirement.signals);
  });
}

bool EventSums::may_have_cycles(u32 block, const IntervalCore& core) const {
  if (cycles_.empty()) return false;
  return has_cycles_[block] || std::ranges::any_of(core.unusual(), [&](u32 n) {
           return core.differing_signals(n).intersects(signals_of_cycles_);
         });
}

void EventSums::add_cycles(u32 block, const IntervalCore& core, const BlockExecution& execution) {
  for (u32 n = 0; n < execution.instructions; ++n)
    add_to_cycle(block, core.passed()[n].cycle, core.actual_signals(n));
}

/// EDGE: a cycle counts unless the one before it would.
void EventSums::add_to_cycle(u32 block, u64 cycle, const SignalSet& signals) {
  for (Cycles& each : cycles_) {
    if (!signals.contains(each.signals)) continue;
    if (!each.last || cycle > *each.last + 1) {
      ++row(block)[each.place];
      each.begun = cycle;
      each.block = block;
    }
    each.last = cycle;
  }
}

void EventSums::finish(u64 cycle) {
  for (const Cycles& each : cycles_)
    if (each.last && each.begun == cycle) --row(each.block)[each.place];
}

void EventSums::count(u32 block, const SignalSet& signals, u64 times) {
  std::vector<SignalCount>& counts = signal_counts_[block];
  const auto known = std::ranges::find(counts, signals, &SignalCount::signals);
  if (known != counts.end())
    known->times += times;
  else
    counts.push_back({signals, times});
}

EventCounts EventSums::counts(u32 block) const {
  EventCounts counts{.cycles = row(block)[kept_.front().place], .occurrences = {}};
  auto by_cycles = cycles_.begin();
  for (const events::SummedEvent& event : events_) {
    using enum events::SummedEvent::By;
    u64 sum = 0;
    for (const events::SummedEvent::Term& term : event.terms)
      sum += term.factor * row(block)[places_[static_cast<std::size_t>(term.quantity)]];
    if (event.by == cycles) sum = row(block)[by_cycles++->place];
    if (event.by == refills) sum = row(block)[refills_place];
    if (event.by == signals)
      for (const SignalCount& counted : signal_counts_[block])
        if (event.rule.matches(counted.signals)) sum += counted.times;
    counts.occurrences.push_back(sum);
  }
  return counts;
}

}  // namespace pmusim::why
