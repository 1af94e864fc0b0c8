// SPDX-License-Identifier: MIT
#include "driver/intel/debug_store/bts.h"

#include <cstring>
#include <utility>

#include "base/kernel_address.h"
#include "cpu/generic_events.h"
#include "driver/intel/scheduling/constraint_rows.h"
#include "driver/x86/event_data.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {
namespace {

using perf::Event;

constexpr u64 record_bytes = sizeof(BtsRecord64);
constexpr u64 records_above_threshold = 170;  // what can be stored until the interrupt is taken

constexpr u64 control_bits = msr::debugctl::TR | msr::debugctl::BTS | msr::debugctl::BTINT |
                             msr::debugctl::BTS_OFF_OS | msr::debugctl::BTS_OFF_USR;

/// DEBUGCTL bits that have this event's branches stored.
u64 control_for(const perf::Attr& attr) {
  return msr::debugctl::TR | msr::debugctl::BTS | msr::debugctl::BTINT |
         (attr.exclude_kernel ? msr::debugctl::BTS_OFF_OS : 0) |
         (attr.exclude_user ? msr::debugctl::BTS_OFF_USR : 0);
}

}  // namespace

BtsDriver::BtsDriver(RegisterAccess& access, DebugStoreArea& area, const Enumeration& enumeration,
                     BtsOptions options)
    : access_(access), area_(area), enumeration_(enumeration), options_(options) {}

bool BtsDriver::wants_trace(const Event& event) const {
  const perf::Attr& attr = event.attr;
  if (attr.freq || attr.sample_period != 1 || attr.branch_sample_type != 0) return false;
  const auto branches = generic_event_encoding(enumeration_.microarchitecture,
                                               GenericEvent::branch_instructions, enumeration_.arch_events);
  return branches && (data_of(event).config & rows::whole_event) == *branches;
}

Fault BtsDriver::set_up() {
  if (ready_) return Fault::none;
  const u64 records = options_.buffer_bytes / record_bytes;
  const u64 below_threshold = records > records_above_threshold ? records - records_above_threshold : 1;
  const Fault fault =
      area_.set_up(DebugStoreArea::Writer::branch_trace, {.address = options_.buffer_address,
                                                          .bytes = options_.buffer_bytes,
                                                          .record_bytes = record_bytes,
                                                          .threshold_bytes = below_threshold * record_bytes});
  ready_ = fault == Fault::none;
  return fault;
}

void BtsDriver::enable(Event& event) { event_ = &event; }

void BtsDriver::start() {
  if (event_ == nullptr || storing_) return;
  write_control(control_for(event_->attr));
  storing_ = true;
}

void BtsDriver::stop() {
  if (std::exchange(storing_, false)) write_control(0);
}

u64 BtsDriver::drain(perf::SampleSink& sink, const InterruptFrame* frame) {
  if (event_ == nullptr) return 0;
  const std::span<const std::byte> buffer = area_.take(DebugStoreArea::Writer::branch_trace);
  perf::SampleData data;
  data.period = event_->hw.last_period;
  const InterruptFrame somewhere;
  const u64 records = buffer.size() / record_bytes;
  for (u64 i = 0; i < records; ++i) {
    BtsRecord64 record;
    std::memcpy(&record, buffer.data() + i * record_bytes, record_bytes);
    const bool touches_kernel = is_kernel_address(record.from) || is_kernel_address(record.to);
    if (touches_kernel && event_->attr.exclude_kernel) continue;
    data.ip = record.from;
    data.cpl = ring_at(record.from);
    data.address = record.to;
    ++event_->count;
    sink.output(*event_, data, frame != nullptr ? *frame : somewhere);
  }
  return records;
}

void BtsDriver::write_control(u64 bits_on) {
  const FaultOr<u64> old = access_.rdmsr(msr::DEBUGCTL);
  if (old.ok()) access_.wrmsr(msr::DEBUGCTL, (*old & ~control_bits) | bits_on);
}

}  // namespace pmusim::driver
