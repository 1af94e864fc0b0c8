// SPDX-License-Identifier: MIT
#include "driver/amd/driver.h"

#include <algorithm>
#include <span>
#include <utility>

#include "driver/x86/period.h"
#include "driver/x86/scheduler.h"

namespace pmusim::driver::amd {

using perf::Event;

namespace {
/// Of a pair the first.
constexpr u64 even_counters = 0x5555'5555'5555'5555;
}  // namespace

Driver::Driver(Bus& bus, const DriverOptions& options)
    : access_(bus),
      cpu_(enumerate(bus, options.kernel)),
      counters_(access_, cpu_),
      apic_(access_),
      branches_(make_branch_records(access_, cpu_)),
      ibs_op_type_(options.ibs_op_type) {
  branches_->reset();
  counters_.reset();
  apic_.set_up();
}

DriverStatistics Driver::statistics() const {
  DriverStatistics statistics = statistics_;
  statistics.faults = access_.faults();
  return statistics;
}

perf::PmuCapabilities Driver::capabilities() const {
  perf::PmuCapabilities capabilities;
  capabilities.interrupts = apic_.reachable();
  capabilities.branch_entries = cpu_.branch_entries;
  return capabilities;
}

/// Linux: amd_pmu_disable_all and amd_pmu_v2_disable_all.
void Driver::disable() {
  if (disable_depth_++ != 0) return;
  enabled_ = false;
  stop_counting();
  for (unsigned n = 0; n < owners_.size(); ++n)
    if (owners_[n] != nullptr && !owners_[n]->hw.stopped) wait_for_overflow(n);
}

void Driver::enable() {
  if (--disable_depth_ != 0) return;
  if (new_placements_ != 0) apply_placements();
  enabled_ = true;
  branches_->enable();
  counters_.enable_all();
}

/// Branch sampling is off before its counter is, the LBR stack behind what freezes it.
void Driver::stop_counting() {
  if (cpu_.branch_sampling) branches_->disable();
  counters_.disable_all();
  if (!cpu_.branch_sampling) branches_->disable();
}

/// The NMI of an overflow may be on its way still: software that goes on meanwhile would take it for its own
/// next one. In an interrupt nothing can come (Linux: amd_pmu_wait_on_overflow).
void Driver::wait_for_overflow(unsigned counter) {
  constexpr unsigned most_looks = 50;
  for (unsigned looks = 0; !in_interrupt_ && looks < most_looks; ++looks)
    if (!counters_.overflow_pending(counter)) return;
}

Constraint Driver::constraint_of(const Event& event) const {
  const u64 all = cpu_.counter_set();
  const bool pair = has_flag(event, driver_flag::PAIR);
  const u64 usable = pair ? all & all >> 1 & even_counters : all;
  return {.counters = uses_branch_stack(event) ? branches_->counters(usable) : usable, .pair = pair};
}

bool Driver::fits(std::span<const Constraint> constraints, std::span<int> counters) const {
  const auto pairs = static_cast<unsigned>(std::ranges::count_if(constraints, &Constraint::pair));
  return assign_counters(constraints, cpu_.counters - std::min(pairs, cpu_.counters), counters);
}

bool Driver::schedule() {
  if (placements_.size() > cpu_.counters) return false;
  if (keep_counters()) return true;
  std::array<Constraint, max_scheduled_events> constraints;
  std::array<int, max_scheduled_events> counters;
  const std::size_t count = placements_.size();
  for (std::size_t i = 0; i < count; ++i) constraints[i] = constraint_of(*placements_[i].event);
  if (!fits({constraints.data(), count}, {counters.data(), count})) return false;
  for (std::size_t i = 0; i < count; ++i) placements_[i].counter = counters[i];
  return true;
}

/// The usual case: everything can stay where it is or was.
bool Driver::keep_counters() {
  const auto counter = [](const Placement& p) {
    const EventData& data = data_of(*p.event);
    return data.index >= 0 ? data.index : data.last_index;
  };
  u64 used = 0;
  for (const Placement& p : placements_) {
    if (counter(p) < 0) return false;
    const u64 pair = has_flag(*p.event, driver_flag::PAIR) ? 3 : 1;
    const u64 mine = pair << static_cast<unsigned>(counter(p));
    if ((used & mine) != 0) return false;
    used |= mine;
  }
  for (Placement& p : placements_) p.counter = counter(p);
  return true;
}

void Driver::begin() {
  in_transaction_ = true;
  transaction_start_ = placements_.size();
}

bool Driver::commit() {
  if (!schedule()) return false;
  in_transaction_ = false;
  return true;
}

void Driver::cancel() {
  if (!in_transaction_) return;
  for (const Placement& p : std::span(placements_).subspan(transaction_start_)) branches_->remove(*p.event);
  new_placements_ -= placements_.size() - transaction_start_;
  placements_.resize(transaction_start_);
  in_transaction_ = false;
}

bool Driver::add(Event& event) {
  if (placements_.size() >= cpu_.counters) return false;
  placements_.push_back({.event = &event});
  if (!in_transaction_ && !schedule()) {
    placements_.pop_back();
    return false;
  }
  ++new_placements_;
  has_counted_ = true;
  event.hw.stopped = true;
  data_of(event).up_to_date = true;
  branches_->add(event);
  return true;
}

void Driver::remove(Event& event) {
  const auto it = std::ranges::find(placements_, &event, &Placement::event);
  if (it == placements_.end()) return;
  const auto position = static_cast<std::size_t>(it - placements_.begin());
  if (position >= placements_.size() - new_placements_) --new_placements_;
  if (in_transaction_ && position < transaction_start_) --transaction_start_;
  leave_counter(event);
  branches_->remove(event);
  placements_.erase(it);
}

/// Counters that change hands are stopped before anything is written to them (Linux: x86_pmu_enable).
void Driver::apply_placements() {
  const std::size_t settled = placements_.size() - new_placements_;
  for (Placement& p : std::span(placements_).first(settled)) {
    if (data_of(*p.event).index == p.counter) continue;
    p.restart = !p.event->hw.stopped;
    leave_counter(*p.event);
  }
  for (std::size_t i = 0; i < placements_.size(); ++i) {
    Placement& p = placements_[i];
    if (data_of(*p.event).index != p.counter) take_counter(*p.event, p.counter);
    if (i >= settled || std::exchange(p.restart, false)) start(*p.event, StartMode::reload);
  }
  new_placements_ = 0;
}

void Driver::take_counter(Event& event, int counter) {
  data_of(event).index = data_of(event).last_index = counter;
  owners_[static_cast<unsigned>(counter)] = &event;
}

void Driver::leave_counter(Event& event) {
  if (data_of(event).index < 0) return;
  stop(event, StopMode::update);
  owners_[counter_of(event)] = nullptr;
  data_of(event).index = -1;
}

void Driver::start(Event& event, StartMode mode) {
  if (!event.hw.stopped || data_of(event).index < 0) return;
  if (mode == StartMode::reload) set_period(event);
  event.hw.stopped = data_of(event).up_to_date = false;
  const bool pair = has_flag(event, driver_flag::PAIR);
  counters_.start(counter_of(event), data_of(event).config,
                  pair ? Counters::Width::pair : Counters::Width::one);
}

void Driver::stop(Event& event, StopMode mode) {
  EventData& data = data_of(event);
  if (data.index < 0) return;
  if (!event.hw.stopped) {
    counters_.stop(counter_of(event));
    wait_for_overflow(counter_of(event));
    event.hw.stopped = true;
  }
  if (mode == StopMode::update && !data.up_to_date) {
    update(event);
    data.up_to_date = true;
  }
}

void Driver::read(Event& event) {
  if (data_of(event).index >= 0 && !data_of(event).up_to_date) update(event);
}

/// The PMU is stopped only where it keeps something of a task.
void Driver::context_switch(SwitchDirection direction, perf::TaskId task) {
  const bool stops = branches_->in_use();
  if (stops) disable();
  branches_->context_switch(direction, task);
  if (stops) enable();
}

/// Presets the counter to what is left of the period. True if the previous period has expired.
bool Driver::set_period(Event& event) {
  const NextInterval next = next_interval(event.hw, cpu_.max_period());
  if (in_interrupt_) statistics_.merged_overflows += next.passed_over;
  const i64 left = uses_branch_stack(event) ? branches_->counted(next.left) : next.left;
  event.hw.previous_count = (0 - static_cast<u64>(left)) & cpu_.counter_mask();
  counters_.write(counter_of(event), event.hw.previous_count);
  if (has_flag(event, driver_flag::PAIR)) counters_.write_upper(counter_of(event));
  return next.expired;
}

void Driver::update(Event& event) {
  count_up_to(event, cpu_.counter_mask(), [&] { return counters_.read(counter_of(event)); });
}

}  // namespace pmusim::driver::amd
