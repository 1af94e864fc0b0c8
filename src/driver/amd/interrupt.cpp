// SPDX-License-Identifier: MIT
// The PMI handlers (Linux: amd_pmu_handle_irq, amd_pmu_v2_handle_irq).
#include <utility>

#include "driver/amd/driver.h"
#include "driver/x86/linux_changes.h"
#include "pmusim/arch/msr.h"

namespace pmusim::driver::amd {

using perf::Event;

/// One look, from the first event on. With global control nothing counts meanwhile; without it, counters
/// count on.
void Driver::handle_pmi(const InterruptFrame& frame) {
  ++statistics_.interrupts;
  if (!has_counted_) return account(0, frame.registers.rip);
  const bool interrupts_another = std::exchange(in_interrupt_, true);
  const bool was_enabled = std::exchange(enabled_, false);
  ++disable_depth_;
  if (cpu_.branch_sampling) branches_->disable();
  if (cpu_.perfmon_v2) counters_.disable_all();
  const unsigned handled = cpu_.perfmon_v2 ? service_by_status(frame) : service_by_counters(frame);
  --disable_depth_;
  enabled_ = was_enabled;
  if (enabled_ && cpu_.branch_sampling) branches_->enable();
  if (enabled_ && cpu_.perfmon_v2) counters_.enable_all();
  in_interrupt_ = interrupts_another;
  account(handled, frame.registers.rip);
}

/// No register tells who it was: each counter is looked at. A preset counter has its top bit set until it
/// wraps.
unsigned Driver::service_by_counters(const InterruptFrame& frame) {
  branches_->read(*sink_);
  apic_.unmask();
  unsigned handled = 0;
  for (Event* const event : owners_) {
    if (event == nullptr || event->hw.stopped) continue;
    update(*event);
    if ((event->hw.previous_count & bit(Enumeration::counter_width - 1)) != 0) continue;
    ++handled;
    const u64 period = event->hw.last_period;
    if (!set_period(*event)) continue;
    // The restart has put the next interval's period there, which before Linux 6.14 samples had.
    const bool own = perf::has(cpu_.kernel, change::overflow_before_rearming);
    sample(*event, frame, own ? period : event->hw.last_period);
  }
  return handled;
}

/// The LBR stack goes on: the records of the handler itself are the kernel's, and a filter or a freeze keeps
/// them out.
unsigned Driver::service_by_status(const InterruptFrame& frame) {
  u64 status = counters_.status();
  if (status == 0) return 0;
  if (cpu_.branch_entries != 0) {
    branches_->read(*sink_);
    status &= ~msr::status::LBR_FRZ;
  }
  status &= cpu_.counter_set();
  unsigned handled = 0;
  for (unsigned n = 0; n < cpu_.counters; ++n) {
    Event* const event = owners_[n];
    if (event == nullptr || event->hw.stopped) continue;
    update(*event);
    if ((status & bit(n)) == 0) continue;
    ++handled;
    status &= ~bit(n);
    const u64 period = event->hw.last_period;
    if (set_period(*event)) sample(*event, frame, period);
  }
  counters_.acknowledge(status);
  return handled;
}

void Driver::sample(Event& event, const InterruptFrame& frame, u64 period) {
  perf::SampleData data;
  data.period = period;
  data.branches = branches_->stack(event);
  if (sink_->overflow(event, data, frame) == perf::SampleSink::Verdict::stop) stop(event, StopMode::plain);
}

/// An NMI can be late: for a while after one that found something, one that does not is taken for that.
void Driver::account(unsigned handled, u64 ip) {
  constexpr u64 window_ns = 100'000'000;
  const u64 now = sink_ == nullptr ? 0 : sink_->now();
  const bool late = handled == 0 && window_open_ && now <= late_until_ns_;
  if (handled != 0) {
    window_open_ = true;
    late_until_ns_ = now + window_ns;
  }
  found_nothing_ = handled == 0;
  was_unknown_ = unknown_.note(handled, ip) && !late;
  if (was_unknown_) ++statistics_.unhandled_interrupts;
}

/// An NMI that was not for this PMU is none of its interrupts.
void Driver::explain_interrupt() {
  unknown_.add_cause();
  if (std::exchange(was_unknown_, false)) --statistics_.unhandled_interrupts;
  if (std::exchange(found_nothing_, false)) --statistics_.interrupts;
}

}  // namespace pmusim::driver::amd
