// SPDX-License-Identifier: MIT
// The PMI handler (Linux: intel_pmu_handle_irq, handle_pmi_common).
#include <utility>

#include "driver/intel/cores/core_traits.h"
#include "driver/intel/intel_driver.h"
#include "driver/x86/linux_changes.h"

namespace pmusim::driver {

using perf::Event;

void IntelDriver::handle_pmi(const InterruptFrame& frame) {
  ++statistics_.interrupts;
  in_interrupt_ = true;
  if (counters_.has_global())
    handle_pmi_by_status(frame);
  else
    handle_pmi_by_counters(frame);
  in_interrupt_ = false;
}

/// Of perfmon 1 no register tells who it was, and none stops all counters at once: each is looked at, and
/// they go on meanwhile (Linux: x86_pmu_handle_irq). A preset counter has its top bit set until it wraps.
void IntelDriver::handle_pmi_by_counters(const InterruptFrame& frame) {
  apic_.unmask();
  unsigned handled = 0;
  for (Event* const event : owners_) {
    if (event == nullptr || event->hw.stopped) continue;
    update(*event);
    if ((event->hw.previous_count & bit(cpu_.counter_width - 1)) != 0) continue;
    ++handled;
    handle_overflow(*event, frame);
  }
  account(handled, frame.registers.rip);
}

void IntelDriver::handle_pmi_by_status(const InterruptFrame& frame) {
  if (traits_->ack == PmiAck::early) apic_.unmask();
  const bool was_enabled = std::exchange(enabled_, false);
  ++disable_depth_;
  bts_.stop();
  counters_.disable_all();
  // No status bit tells of the branch trace buffer.
  const unsigned branch_traces = bts_.drain(*sink_, &frame) != 0 ? 1 : 0;
  const unsigned handled = branch_traces + service(frame);
  if (traits_->ack == PmiAck::middle) apic_.unmask();
  --disable_depth_;
  enabled_ = was_enabled;
  if (enabled_) {
    lbr_.enable(LbrDriver::EnableMode::after_pmi);
    counters_.enable_all();
    bts_.start();
  }
  if (traits_->ack == PmiAck::late) apic_.unmask();
  account(handled, frame.registers.rip);
}

void IntelDriver::account(unsigned handled, u64 ip) {
  if (unknown_.note(handled, ip)) ++statistics_.unhandled_interrupts;
}

unsigned IntelDriver::service(const InterruptFrame& frame) {
  constexpr unsigned max_rounds = 100;
  unsigned handled = 0;
  unsigned rounds = 0;
  for (u64 status = counters_.status(); status != 0; status = counters_.status()) {
    if (lbr_.in_use()) lbr_.read_in_pmi(*sink_);
    counters_.acknowledge(status);  // and recording of branches goes on
    if (++rounds > max_rounds) {
      ++statistics_.stuck_interrupts;
      counters_.reset();
      break;
    }
    handled += handle_status(status, frame);
  }
  return handled;
}

unsigned IntelDriver::handle_status(u64 status, const InterruptFrame& frame) {
  using namespace msr::status;
  unsigned handled = 0;
  status &= ~(COND_CHGD | ASCI | LBR_FRZ);
  if (status == 0) return 0;
  const u64 wants_drain = status & pebs_.buffer_status();
  // Counter bits may stay set beside the buffer's; a PEBS counter's samples are in the buffer alone.
  status &= ~pebs_.enabled();
  const bool drains_at_each = perf::has(options_.kernel, change::snapshots_as_in_7_3);
  if (wants_drain != 0 || (!drains_at_each && (status & status_of_recorded_counters()) != 0)) {
    const u64 pebs_before = pebs_.enabled();
    pebs_.drain(DrainTrigger::interrupt, owners_, &frame);
    // PEBS_ENABLE was never cleared: it changes only where a sample of this drain stopped its event.
    if (wants_drain != 0 && pebs_.enabled() != pebs_before) pebs_.write_enable();
  }
  if (wants_drain != 0) {
    ++handled;
    status &= ~status_forgotten_behind_a_drain();
  }
  if ((status & PERF_METRICS) != 0) {
    ++handled;
    update_topdown(nullptr);
  }
  for (const Event* event : owners_)  // an abort may have taken the status bit back
    if (event != nullptr && has_flag(*event, driver_flag::CHECKPOINTED)) status |= bit(counter_of(*event));
  for (const unsigned n : set_bits(status & cpu_.counters)) {
    ++handled;
    Event* const event = owners_[n];
    if (event == nullptr || event->hw.stopped) continue;
    if (drains_at_each && counts_from_records(*event)) pebs_.drain(DrainTrigger::interrupt, owners_, &frame);
    handle_overflow(*event, frame);
  }
  return handled;
}

/// Linux 7.3 means to leave out the metrics' bit where records have brought them, and takes the number of
/// that bit, 48, for a mask: overflows of GP 4 and 5 are lost.
u64 IntelDriver::status_forgotten_behind_a_drain() const {
  constexpr u64 metrics_bit_number = 48;
  const Event* const slots = owners_[counter::SLOTS];
  const bool recorded = slots != nullptr && counts_from_records(*slots);
  return recorded && perf::has(options_.kernel, change::snapshots_as_in_7_3) ? metrics_bit_number : 0;
}

/// Overflows that must not be read before the records that were written before them.
u64 IntelDriver::status_of_recorded_counters() const {
  u64 status = 0;
  for (const Event* event : owners_) {
    if (event == nullptr || !counts_from_records(*event)) continue;
    status |= bit(counter_of(*event));
    if (has_flag(*event, driver_flag::SLOTS_WITH_METRICS)) status |= msr::status::PERF_METRICS;
  }
  return status;
}

void IntelDriver::handle_overflow(Event& event, const InterruptFrame& frame) {
  perf::SampleData data;
  data.period = event.hw.last_period;
  if (!save_and_restart(event)) return;
  // The restart has put the next interval's period there, which before Linux 6.14 samples had.
  if (!perf::has(options_.kernel, change::overflow_before_rearming)) data.period = event.hw.last_period;
  if ((event.attr.sample_type & perf::sample::BRANCH_STACK) != 0) data.branches = interrupt_branches(event);
  if (has_flag(event, pebs_flag::EXTENDED_REGISTERS))
    data.extended = data.user_extended = live_registers(event);
  if (sink_->overflow(event, data, frame) == perf::SampleSink::Verdict::stop) stop(event, StopMode::plain);
}

}  // namespace pmusim::driver
