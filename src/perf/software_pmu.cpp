// SPDX-License-Identifier: MIT
#include "perf/software_pmu.h"

#include <algorithm>

#include "perf/refusal.h"

namespace pmusim::perf {

namespace {

/// A timer that fires more often would leave no time for anything else.
constexpr u64 shortest_timer_ns = 10'000;
constexpr u64 ns_per_second = 1'000'000'000;

bool is_clock(const Event& event) { return event.attr.config <= static_cast<u64>(SoftwareId::task_clock); }

bool counts_at(const Event& event, Cpl cpl) {
  return cpl == Cpl::user ? !event.attr.exclude_user : !event.attr.exclude_kernel;
}

/// Perf time at which the period of a running clock event ends.
u64 timer_of(const Event& event) {
  return event.hw.previous_count + static_cast<u64>(std::max<i64>(event.hw.period_left, 0));
}

}  // namespace

PmuCapabilities SoftwarePmu::capabilities() const {
  PmuCapabilities capabilities;
  capabilities.name = "software";
  capabilities.extended_type = false;
  return capabilities;
}

Result<Done, KernelError> SoftwarePmu::init(Event& event) {
  if (event.attr.sample_type & sample::BRANCH_STACK)
    return refuse(EOPNOTSUPP, "sample_type: software events have no branch stack");
  if (event.attr.config >= static_cast<u64>(SoftwareId::count_))
    return refuse(ENOENT, "config: there is no software event {}", event.attr.config);
  if (is_clock(event) && event.attr.freq && event.attr.sample_period != 0) {
    // A timer can be set to the frequency at once: no control loop.
    event.hw.sample_period = event.hw.last_period = ns_per_second / event.attr.sample_period;
    event.hw.period_left = static_cast<i64>(event.hw.sample_period);
    event.attr.sample_period = event.hw.sample_period;
    event.attr.freq = 0;
  }
  return Done{};
}

bool SoftwarePmu::add(Event& event) {
  active_.push_back(&event);
  start(event, StartMode::reload);
  return true;
}

void SoftwarePmu::remove(Event& event) {
  stop(event, StopMode::update);
  std::erase(active_, &event);
}

void SoftwarePmu::start(Event& event, StartMode) {
  if (!event.hw.stopped) return;
  event.hw.stopped = false;
  event.hw.previous_count = sink_.now();
  if (event.is_sampling() && event.hw.period_left <= 0)
    event.hw.period_left = static_cast<i64>(event.hw.sample_period);
}

void SoftwarePmu::stop(Event& event, StopMode) {
  if (event.hw.stopped) return;
  read(event);
  event.hw.stopped = true;
}

void SoftwarePmu::read(Event& event) {
  if (!is_clock(event) || event.hw.stopped) return;
  const u64 passed = sink_.now() - event.hw.previous_count;
  event.hw.previous_count = sink_.now();
  event.count += passed;
  event.hw.period_left -= static_cast<i64>(passed);
}

void SoftwarePmu::count(SoftwareId id, u64 n, u64 address, const InterruptFrame& frame) {
  const auto active = active_;  // an overflow may stop events
  for (Event* event : active) {
    if (event->attr.config != static_cast<u64>(id) || event->hw.stopped || !counts_at(*event, frame.cpl))
      continue;
    event->count += n;
    if (!event->is_sampling()) continue;
    event->hw.period_left -= static_cast<i64>(n);
    if (event->hw.period_left <= 0) overflow(*event, address, frame);
  }
}

void SoftwarePmu::overflow(Event& event, u64 address, const InterruptFrame& frame) {
  const u64 period = event.hw.sample_period;
  const auto interval = static_cast<i64>(is_clock(event) ? std::max(period, shortest_timer_ns) : period);
  while (event.hw.period_left <= 0) event.hw.period_left += interval;
  event.hw.last_period = period;
  SampleData data;
  data.period = period;
  data.address = address;
  if (sink_.overflow(event, data, frame) == SampleSink::Verdict::stop) stop(event, StopMode::plain);
}

std::optional<u64> SoftwarePmu::next_timer() const {
  std::optional<u64> next;
  for (const Event* event : active_)
    if (is_clock(*event) && event->is_sampling() && !event->hw.stopped)
      next = std::min(next.value_or(~u64{0}), timer_of(*event));
  return next;
}

void SoftwarePmu::run_timers(const InterruptFrame& frame) {
  const auto active = active_;
  for (Event* event : active) {
    if (!is_clock(*event) || !event->is_sampling() || event->hw.stopped) continue;
    if (timer_of(*event) > sink_.now()) continue;
    read(*event);
    if (counts_at(*event, frame.cpl))
      overflow(*event, 0, frame);
    else
      event->hw.period_left = static_cast<i64>(event->hw.sample_period);
  }
}

}  // namespace pmusim::perf
