// SPDX-License-Identifier: MIT
// Counting by the block instead of by the instruction.
#include <algorithm>
#include <utility>

#include "cpu/quantity_set.h"
#include "cpu/quantity_terms.h"
#include "msr/counters.h"

namespace pmusim {

namespace {

/// No run is longer than this: cycles stay far from where 64-bit clocks wrap.
constexpr u64 last_cycle = bit(60);

/// What room() is asked about at most: sums of it fit into 32 bits, and cycles into the arithmetic of clocks.
constexpr u64 longest_run = bit(31);

/// How often, `at_most` that, `amount` fits into `room`.
u64 fits(u64 room, u64 amount, u64 at_most) {
  if (amount > room) return 0;
  return at_most <= 1 || amount == 0 ? at_most : std::min(at_most, room / amount);
}

/// Folds one more word into a fingerprint (the finaliser of SplitMix64).
u64 fold(u64 fingerprint, u64 word) {
  u64 mixed = (fingerprint ^ word) + 0x9E3779B97F4A7C15;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
  return mixed ^ mixed >> 31;
}

}  // namespace

u64 CounterFile::fingerprint(const Derived& derived) const {
  u64 result = fold(derived.running, derived.logged_by_lbr & derived.running);
  for (const unsigned n : set_bits(derived.running & low_bits(first_fixed))) {
    result = fold(result, event_select_[n] & ~msr::evtsel::INT);
    if (const u64 filter = event_filter(event_select_[n]); filter != 0) result = fold(~result, filter);
  }
  if ((derived.running >> first_fixed) != 0) result = fold(result, fixed_ctrl_);
  if (hwcr_ != 0) result = fold(result, hwcr_);
  if (derived.merged != 0) result = fold(~result, derived.merged);
  const u64 metrics = u64{derived.metrics_kernel} << 1 | u64{derived.metrics_user};
  return fold(result, filters_.load_latency_cycles << 2 | metrics);
}

/// Whether what blocks add can be summed up at all under the present programming.
bool CounterFile::sums_up() const {
  return !derived_.counts_lbr_inserts && !derived_.single_steps && derived_.of_core == 0 &&
         (derived_.logged_by_lbr & derived_.running) == 0 &&
         std::ranges::none_of(derived_.per_cycle,
                              [](const Running& r) { return r.edge || r.most_in_cycle != 0; });
}

/// Whether a condition holds, or does not, alike in every cycle that has up to `most` occurrences.
bool CounterFile::is_steady(const Running& running, u64 most) const {
  const u64 least = ticks(running, 1);
  const bool satisfied = running.satisfied_by(least);
  for (u64 k = least + 1; k <= least + most; ++k)
    if (running.satisfied_by(k) != satisfied) return false;
  return true;
}

/// The cycle that is open closes as those after it do.
bool CounterFile::open_cycle_is_steady(Cpl cpl) const {
  return std::ranges::all_of(derived_.per_cycle, [&](const Running& running) {
    const u32 so_far = in_cycle_[running.counter];
    if (!running.passes(cpl, tx_ == TxState::in_tx)) return so_far == 0;
    const u64 least = ticks(running, 1);
    return running.satisfied_by(least + so_far) == running.satisfied_by(least);
  });
}

/// The open cycle can close, at the privilege that it has, without a counter that wraps.
bool CounterFile::open_cycle_has_room() const {
  const auto has_room = [&](const Running& running) {
    const u64 room = width_mask_ - counts_[running.counter];
    if (running.has_condition()) return increment(running, 1, cycle_cpl_) <= room;
    return !running.passes(cycle_cpl_, tx_ == TxState::in_tx) || ticks(running, 1) <= room;
  };
  return std::ranges::all_of(derived_.clocked, has_room) && std::ranges::all_of(derived_.per_cycle, has_room);
}

/// What a condition makes of a cycle with so many occurrences, beyond what it makes of one with none.
u64 CounterFile::Running::beyond_empty(u64 occurrences) const {
  return u64{satisfied_by(occurrences)} - u64{satisfied_by(0)};
}

/// Fills in what the block is to counters that sum up within a cycle.
void CounterFile::sum_up_cycles(std::span<const Retirement> execution, CounterTotals& block) const {
  for (const Running& running : derived_.per_cycle) {
    const bool counts =
        running.source == Source::occurrences && running.passes(block.cpl, block.tx == TxState::in_tx);
    u64 beyond_empty = 0, in_cycle = 0;
    for (std::size_t n = 0; counts && n < execution.size(); ++n) {
      if (n != 0 && execution[n - 1].cycle != execution[n].cycle)
        beyond_empty += running.beyond_empty(std::exchange(in_cycle, 0));
      in_cycle += occurrences(running, execution[n]);
    }
    if (counts) beyond_empty += running.beyond_empty(in_cycle);
    block.beyond_empty.push_back(beyond_empty);
    block.in_last_cycle.push_back(static_cast<u32>(in_cycle));
  }
}

CounterTotals CounterFile::totals(std::span<const Retirement> execution, u64 since) const {
  CounterTotals block;
  block.programming = derived_.programming;
  if (execution.empty() || execution.back().cycle < since) return block;
  block.cycles = execution.back().cycle - since;
  block.cpl = execution.front().cpl;
  block.tx = execution.front().tx;
  block.begins_cycle = execution.front().cycle != since;
  const bool uniform = std::all_of(execution.begin(), execution.end(), [&](const Retirement& r) {
    return r.cpl == block.cpl && r.tx == block.tx;
  });
  block.additive = uniform && sums_up() && (derived_.per_cycle.empty() || block.begins_cycle);
  if (!block.additive) return block;
  sum_up_cycles(execution, block);

  const bool metrics_count = block.cpl == Cpl::kernel ? derived_.metrics_kernel : derived_.metrics_user;
  block.occurrences.resize(derived_.retired.size());
  for (const Retirement& r : execution) {
    for (std::size_t i = 0; i < derived_.retired.size(); ++i) {
      const Running& running = derived_.retired[i];
      if (!running.waits_for_cycle() && running.passes(block.cpl, block.tx == TxState::in_tx))
        block.occurrences[i] += occurrences(running, r);
    }
    if (!metrics_count) continue;
    const PerfMetrics::Slots of_this = PerfMetrics::slots_in(r.quantities);
    for (std::size_t i = 0; i < of_this.size(); ++i) block.slots[i] += of_this[i];
  }
  return block;
}

u64 CounterFile::headroom(const CounterTotals& block, u64 at_most) const {
  if (!block.additive || block.programming != derived_.programming || block.tx != tx_) return 0;
  // The open cycle belongs to the privilege that retired in it.
  const bool changes_privilege = cycle_has_retired_ && cycle_cpl_ != block.cpl;
  if (changes_privilege && (!block.begins_cycle || !open_cycle_has_room())) return 0;

  u64 executions = fits(last_cycle - std::min(last_cycle, now_), block.cycles, at_most);
  for (std::size_t i = 0; i < derived_.retired.size(); ++i) {
    const u64 room = width_mask_ - counts_[derived_.retired[i].counter];
    executions = fits(room, block.occurrences[i], executions);
  }
  const bool in_tx = tx_ == TxState::in_tx;
  for (const Running& clock : derived_.clocked) {
    const u64 room = width_mask_ - counts_[clock.counter];
    if (clock.passes(block.cpl, in_tx) && ticks(clock, executions * block.cycles) > room)
      executions = (cycles_for(clock, room + 1) - 1) / block.cycles;
  }
  const u64 open = cycle_has_retired_ ? 1 : 0;
  for (std::size_t i = 0; i < derived_.per_cycle.size(); ++i) {
    const Running& running = derived_.per_cycle[i];
    if (!running.passes(block.cpl, in_tx)) continue;
    u64 room = width_mask_ - counts_[running.counter];
    if (running.satisfied_by(ticks(running, 1))) {
      executions = fits(room, block.cycles, executions);
      continue;
    }
    const u64 of_open_cycle = increment(running, open, cycle_cpl_);
    if (of_open_cycle > room) return 0;
    room += running.beyond_empty(block.in_last_cycle[i]) - of_open_cycle;
    executions = fits(room, block.beyond_empty[i], executions);
  }
  return metrics_.headroom(block.slots, executions);
}

/// Whether retirements of this shape can be summed up. With no more than so many in a cycle, conditions must
/// hold alike in all cycles; where an instruction counts depends on its accesses, each has to retire by
/// itself.
bool CounterFile::has_shape(const RunShape& shape) const {
  const auto& retired = derived_.retired;
  if (shape.most_in_cycle == 0)
    return std::ranges::none_of(retired, [](const Running& r) { return r.is_quantity(); });
  const bool steady = std::ranges::all_of(derived_.per_cycle, [&](const Running& r) {
    const bool counts = r.source == Source::occurrences && r.passes(Cpl::user, false);
    return is_steady(r, counts ? shape.most_in_cycle : 0) && (!counts || r.rule.quantity == Quantity::none);
  });
  return steady && retired.size() <= most_summed_counters &&
         derived_.per_cycle.size() <= most_summed_counters &&
         std::ranges::none_of(retired,
                              [](const Running& r) { return r.only_slow_loads || r.only_slow_fetches; });
}

CounterRoom CounterFile::room(const RunShape& shape) const {
  const bool exact_only = !sums_up() || derived_.metrics_user || tx_ != TxState::none ||
                          (cycle_has_retired_ && cycle_cpl_ != Cpl::user) || !open_cycle_is_steady(Cpl::user);
  if (exact_only || now_ >= last_cycle || !has_shape(shape)) return {};
  CounterRoom all{.instructions = longest_run, .cycles = std::min(longest_run, last_cycle - now_)};
  for (const Running& running : derived_.retired) {
    if (running.waits_for_cycle() || running.is_quantity() || !running.passes(Cpl::user, false)) continue;
    all.instructions = std::min(all.instructions, width_mask_ - counts_[running.counter]);
  }
  for (const Running& clock : derived_.clocked) {
    const u64 room = width_mask_ - counts_[clock.counter];
    if (clock.passes(Cpl::user, false) && ticks(clock, all.cycles) > room)
      all.cycles = cycles_for(clock, room + 1) - 1;
  }
  for (const Running& running : derived_.per_cycle) {
    const u64 room = width_mask_ - counts_[running.counter];
    if (increment(running, all.cycles, Cpl::user) > room) all.cycles = std::min(all.cycles, room);
  }
  return all;
}

bool CounterFile::ticks_in_every_cycle(const Running& clock) const {
  const CoreParameters& core = model_->core;
  return clock.source == Source::core_clock ||
         (clock.source == Source::tsc &&
          core.tsc_per_core_cycle_numerator == core.tsc_per_core_cycle_denominator);
}

u64 CounterFile::quiet_instructions(u32 most) const {
  if (!sums_up() || tx_ != TxState::none || now_ >= last_cycle) return 0;
  if (!cycle_has_retired_) return 0;  // it is yet to be seen whose the open cycle is
  u64 quiet = std::min(longest_run, last_cycle - now_);
  for (const Running& running : derived_.retired) {
    if (running.waits_for_cycle()) continue;
    const u64 room = width_mask_ - counts_[running.counter];
    quiet = std::min(quiet, running.rule.quantity == Quantity::none ? room : room / most);
  }
  // Conditions hold once in a cycle at most, and perhaps in the open one.
  for (const Running& running : derived_.per_cycle) {
    const u64 room = width_mask_ - counts_[running.counter];
    quiet = std::min(quiet, room - std::min<u64>(room, 1));
  }
  for (const Running& clock : derived_.clocked) {
    // Not every cycle has a tick, and whose cycles have them depends on the order.
    if (clock.kernel != clock.user && !ticks_in_every_cycle(clock)) return 0;
    const u64 room = width_mask_ - counts_[clock.counter];
    if (ticks(clock, quiet) > room) quiet = cycles_for(clock, room + 1) - 1;
  }
  if (!derived_.metrics_kernel && !derived_.metrics_user) return quiet;
  PerfMetrics::Slots row;
  row.fill(most);
  return metrics_.headroom(row, quiet);
}

CounterRow CounterFile::occurrences(const SignalSet& signals) const {
  CounterRow row{};
  for (std::size_t i = 0; i < derived_.retired.size(); ++i) {
    const Running& running = derived_.retired[i];
    if (running.waits_for_cycle() || running.is_quantity() || !running.passes(Cpl::user, false)) continue;
    row[i] = running.rule.matches(signals) ? 1 : 0;
  }
  return row;
}

CounterRow CounterFile::occurrences_within_cycle(const SignalSet& signals) const {
  CounterRow row{};
  for (std::size_t i = 0; i < derived_.per_cycle.size(); ++i) {
    const Running& running = derived_.per_cycle[i];
    const bool counts = running.source == Source::occurrences && running.passes(Cpl::user, false);
    row[i] = counts && running.rule.matches(signals) ? 1 : 0;
  }
  return row;
}

SignalSet CounterFile::counted_signals() const {
  SignalSet signals;
  for (const Running& running : derived_.retired)
    signals = signals | running.rule.all | running.rule.any | running.rule.none;
  return signals;
}

bool CounterFile::counts_quantities() const {
  return std::ranges::any_of(derived_.retired, [](const Running& r) { return r.is_quantity(); });
}

bool CounterFile::Running::counts_alike_cycles() const { return !edge && has_alike_cycles(rule.quantity); }

std::vector<QuantityTerm> CounterFile::quantity_terms() const {
  std::vector<QuantityTerm> terms;
  for (std::size_t i = 0; i < derived_.retired.size(); ++i) {
    const Running& running = derived_.retired[i];
    if (!running.is_quantity() || running.compares_quantity()) continue;
    const auto add = [&](Quantity quantity, u64 factor) { terms.push_back({i, quantity, factor}); };
    if (running.has_condition())
      for_alike_cycles(running.rule, running.satisfied_by(running.per_cycle), running.satisfied_by(0), add);
    else
      for_occurrences(running.rule, running.per_cycle, add);
  }
  return terms;
}

bool CounterFile::compares_quantities() const {
  return std::ranges::any_of(derived_.retired, [](const Running& r) { return r.compares_quantity(); });
}

void CounterFile::add_compared_quantities(const Retirement& retirement, CounterSums& sums) const {
  for (std::size_t i = 0; i < derived_.retired.size(); ++i)
    if (derived_.retired[i].compares_quantity()) sums[i] += occurrences(derived_.retired[i], retirement);
}

CounterSums CounterFile::quantity_room() const {
  CounterSums room{};
  for (std::size_t i = 0; i < derived_.retired.size(); ++i)
    room[i] = width_mask_ - counts_[derived_.retired[i].counter];
  return room;
}

CounterRow CounterFile::open_cycle() const {
  CounterRow row{};
  for (std::size_t i = 0; i < derived_.per_cycle.size(); ++i)
    row[i] = in_cycle_[derived_.per_cycle[i].counter];
  return row;
}

void CounterFile::advance(const CounterTotals& block, u64 executions) {
  static_cast<void>(pass_time(now_ + executions * block.cycles, block.cpl));
  for (std::size_t i = 0; i < derived_.retired.size(); ++i)
    counts_[derived_.retired[i].counter] += executions * block.occurrences[i];
  if (block.cpl == Cpl::kernel ? derived_.metrics_kernel : derived_.metrics_user) {
    PerfMetrics::Slots of_all = block.slots;
    for (u64& of_category : of_all) of_category *= executions;
    metrics_.count(of_all);
  }
  // Time has passed as over empty cycles, and the last one stays open.
  for (std::size_t i = 0; i < derived_.per_cycle.size(); ++i) {
    const Running& running = derived_.per_cycle[i];
    counts_[running.counter] +=
        executions * block.beyond_empty[i] - running.beyond_empty(block.in_last_cycle[i]);
    in_cycle_[running.counter] = block.in_last_cycle[i];
  }
  cycle_has_retired_ = true;
  cycle_cpl_ = block.cpl;
}

}  // namespace pmusim
