// SPDX-License-Identifier: MIT
// Which events are on the PMU and on which counters.
#include <algorithm>
#include <span>
#include <utility>

#include "driver/intel/cores/core_traits.h"
#include "driver/intel/intel_driver.h"

namespace pmusim::driver {
namespace {

using perf::Event;

constexpr u64 selector = msr::evtsel::EVENT | msr::evtsel::UMASK;

/// Of events that count without a counter.
u64 pseudo_counter(const Event& event) {
  if (has_flag(event, driver_flag::GUEST_LBR)) return bit(counter::GUEST_LBR);
  if (has_flag(event, driver_flag::BRANCH_TRACE)) return bit(counter::BRANCH_TRACE);
  return 0;
}

int present_or_last_counter(const Event& event) {
  const EventData& data = data_of(event);
  return data.index >= 0 ? data.index : data.last_index;
}

}  // namespace

bool is_hardware_event(const Event& event) {
  const auto type = static_cast<perf::EventType>(event.attr.type);
  return type != perf::EventType::software && type != perf::EventType::tracepoint &&
         type != perf::EventType::breakpoint;
}

const ExtraRegisterRow* find_extra_register(std::span<const ExtraRegisterRow> rows, u64 config) {
  const auto row = std::ranges::find(rows, config & selector, &ExtraRegisterRow::event);
  return row == rows.end() ? nullptr : &*row;
}

EventTraits IntelDriver::traits_of(const Event& event, u64 config) const {
  constexpr u64 weights = perf::sample::WEIGHT | perf::sample::WEIGHT_STRUCT;
  return {.config = config,
          .precise = static_cast<unsigned>(event.attr.precise_ip),
          .retire_latency = (event.attr.sample_type & weights) != 0,
          .branch_counters = (event.attr.branch_sample_type & perf::branch::COUNTERS) != 0};
}

/// As many events as there are counters, whether they need one or not, and the metrics, which are shares of
/// one counter.
bool IntelDriver::has_room(const Placements& events, const Event& next) const {
  constexpr std::size_t most_metrics = 8;
  const auto is_metric = [](const Event& event) { return has_flag(event, driver_flag::METRIC); };
  std::size_t metrics = is_metric(next) ? 1 : 0;
  for (const Placement& p : events) metrics += is_metric(*p.event) ? 1 : 0;
  const auto counters = static_cast<std::size_t>(std::popcount(cpu_.counters));
  return events.size() < std::min(counters + std::min(metrics, most_metrics), max_scheduled_events);
}

/// Takes the event's extra register, or one that can stand in for it; `config` follows, since the selector
/// names the register. False: all are in use with other values.
bool IntelDriver::claim_extra_register(Placement& placement, u64& config, SharedRegisters& shared,
                                       ScheduleMode mode) {
  Event& event = *placement.event;
  const ExtraRegisterRow* own = find_extra_register(traits_->extra_registers, config);
  if (own == nullptr || placement.extra_register != 0) return true;
  const auto take = [&](const ExtraRegisterRow& row) {
    if ((data_of(event).extra_config & ~row.valid) != 0 ||
        !shared.acquire(row.address, data_of(event).extra_config))
      return false;
    placement.extra_register = row.address;
    config = (config & ~selector) | row.event;
    if (mode == ScheduleMode::commit) {
      data_of(event).extra_register = row.address;
      data_of(event).config = config;
    }
    return true;
  };
  if (take(*own)) return true;
  if (own->alternatives == 0) return false;
  return std::ranges::any_of(traits_->extra_registers, [&](const ExtraRegisterRow& row) {
    return row.alternatives == own->alternatives && row.address != own->address && take(row);
  });
}

SharedRegisters& IntelDriver::shared_registers() {
  const bool are_the_cores = options_.core != nullptr && traits_->shares_extra_registers;
  return are_the_cores ? options_.core->registers : own_registers_;
}

bool IntelDriver::shares_counters() const { return options_.core != nullptr && traits_->exclusive_counters; }

/// Two filters cannot be in force at once: events with different ones take turns.
bool IntelDriver::claim_branch_filter(Placement& placement, SharedRegisters& shared) {
  if (!LbrDriver::uses_lbr(*placement.event) || placement.has_filter) return true;
  placement.has_filter = shared.acquire(msr::LBR_SELECT, data_of(*placement.event).branch_config);
  return placement.has_filter;
}

/// Counters left by the sibling thread: what it uses exclusively nobody shares, and an exclusive event shares
/// with nobody.
u64 IntelDriver::usable_beside_sibling(u64 counters, bool exclusive) const {
  const auto& sibling = options_.core->counter_use[1 - options_.thread];
  for (const unsigned n : set_bits(counters & counter::GP_BITS))
    if (sibling[n] == CounterUse::exclusive || (exclusive && sibling[n] == CounterUse::shared))
      counters &= ~bit(n);
  return counters;
}

void IntelDriver::find_constraint(Placement& placement, SharedRegisters& shared, ScheduleMode mode) {
  if (placement.constraint_known && !placement.constraint_dynamic) return;
  Event& event = *placement.event;
  u64 config = data_of(event).config;
  placement.constraint_known = true;
  if (const u64 pseudo = pseudo_counter(event); pseudo != 0) {
    placement.constraint = {.counters = pseudo & data_of(event).dynamic_constraint};
    return;
  }
  if (!claim_extra_register(placement, config, shared, mode) || !claim_branch_filter(placement, shared)) {
    placement.constraint = {};
    return;
  }
  const EventTraits traits = traits_of(event, config);
  placement.constraint = constraints_.find(traits);
  if (cpu_.tsx_force_abort && options_.transaction_aborts == TransactionAborts::forbidden)
    placement.constraint.counters &= ~bit(3);
  if (const u64 dynamic = data_of(event).dynamic_constraint; dynamic != ~u64{0}) {
    placement.constraint.counters &= dynamic;
    placement.constraint_dynamic = true;
  }
  if (shares_counters() && mode == ScheduleMode::commit) {
    if (!placement.exclusive && constraints_.exclusive(traits)) {
      placement.exclusive = true;
      ++options_.core->exclusive_events;
    }
    placement.constraint.counters = usable_beside_sibling(placement.constraint.counters, placement.exclusive);
    placement.constraint_dynamic = true;
  }
}

void IntelDriver::put_constraint(Placement& placement, SharedRegisters& shared) {
  if (placement.extra_register != 0) shared.release(std::exchange(placement.extra_register, 0));
  if (std::exchange(placement.has_filter, false)) shared.release(msr::LBR_SELECT);
  placement.constraint_known = placement.constraint_dynamic = false;
  if (std::exchange(placement.exclusive, false)) --options_.core->exclusive_events;
}

/// The usual case: everything can stay where it is or was.
bool IntelDriver::keep_counters(Placements& events) const {
  u64 used = 0;
  for (Placement& p : events) {
    const int counter = present_or_last_counter(*p.event);
    if (counter < 0) return false;
    const u64 mine = bit(static_cast<unsigned>(counter));
    if ((p.constraint.counters & mine) == 0 || (used & mine) != 0) return false;
    used |= mine;
  }
  for (Placement& p : events) p.next_counter = present_or_last_counter(*p.event);
  return true;
}

bool IntelDriver::assign(Placements& events, ScheduleMode mode) const {
  if (keep_counters(events)) return true;
  unsigned gp_limit = static_cast<unsigned>(std::popcount(cpu_.gp_mask()));
  if (mode == ScheduleMode::commit && shares_counters() && options_.core->exclusive_events != 0)
    gp_limit /= 2;
  std::array<Constraint, max_scheduled_events> constraints;
  std::array<int, max_scheduled_events> counters;
  for (std::size_t i = 0; i < events.size(); ++i) constraints[i] = events[i].constraint;
  if (!assign_counters({constraints.data(), events.size()}, gp_limit, {counters.data(), events.size()}))
    return false;
  for (std::size_t i = 0; i < events.size(); ++i) events[i].next_counter = counters[i];
  return true;
}

bool IntelDriver::schedule(Placements& events, std::size_t first_new, SharedRegisters& shared,
                           ScheduleMode mode) {
  for (Placement& p : events) find_constraint(p, shared, mode);
  if (!assign(events, mode)) {
    for (std::size_t i = first_new; i < events.size(); ++i) put_constraint(events[i], shared);
    return false;
  }
  for (Placement& p : events) p.counter = p.next_counter;
  if (mode == ScheduleMode::commit && shares_counters()) publish_counter_use(events);
  return true;
}

/// Tells the sibling thread which general counters are in use and how.
void IntelDriver::publish_counter_use(const Placements& events) {
  auto& use = options_.core->counter_use[options_.thread];
  use.fill(CounterUse::unused);
  for (const Placement& p : events)
    if (p.counter >= 0 && static_cast<unsigned>(p.counter) < use.size())
      use[static_cast<unsigned>(p.counter)] = p.exclusive ? CounterUse::exclusive : CounterUse::shared;
}

void IntelDriver::begin() {
  in_transaction_ = true;
  transaction_start_ = placements_.size();
}

bool IntelDriver::commit() {
  if (!schedule(placements_, transaction_start_, shared_registers(), ScheduleMode::commit)) return false;
  in_transaction_ = false;
  return true;
}

/// What the transaction added holds no registers: it was never scheduled, or the failure gave them back.
void IntelDriver::cancel() {
  if (!in_transaction_) return;
  for (const Placement& p : std::span(placements_).subspan(transaction_start_)) {
    pebs_.remove(*p.event);
    lbr_.remove(*p.event);
  }
  new_placements_ -= placements_.size() - transaction_start_;
  placements_.resize(transaction_start_);
  in_transaction_ = false;
}

bool IntelDriver::add(Event& event) {
  if (!has_room(placements_, event)) return false;
  placements_.push_back({.event = &event});
  if (!in_transaction_ &&
      !schedule(placements_, placements_.size() - 1, shared_registers(), ScheduleMode::commit)) {
    placements_.pop_back();
    return false;
  }
  ++new_placements_;
  event.hw.stopped = true;
  data_of(event).up_to_date = true;
  pebs_.add(event);
  lbr_.add(event);  // before a task comes to the CPU: it brings its branches, or takes those of others away
  return true;
}

void IntelDriver::remove(Event& event) {
  const auto it = std::ranges::find(placements_, &event, &Placement::event);
  if (it == placements_.end()) return;
  const auto position = static_cast<std::size_t>(it - placements_.begin());
  if (position >= placements_.size() - new_placements_) --new_placements_;
  if (in_transaction_ && position < transaction_start_) --transaction_start_;
  leave_counter(event);
  pebs_.remove(event);
  lbr_.remove(event);
  put_constraint(*it, shared_registers());
  placements_.erase(it);
  if (shares_counters()) publish_counter_use(placements_);
}

}  // namespace pmusim::driver
