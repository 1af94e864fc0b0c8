// SPDX-License-Identifier: MIT
#include "driver/debug_store/bts.h"

#include <cstring>
#include <utility>

#include "cpu/generic_events.h"
#include "driver/scheduling/constraint_rows.h"
#include "pmusim/arch/ds_area.h"

namespace pmusim::driver {
namespace {

using perf::Event;

constexpr u64 area_bytes = 4096;
constexpr u64 record_bytes = sizeof(BtsRecord64);
constexpr u64 records_above_threshold = 170;  // what can be stored until the interrupt is taken

constexpr u64 control_bits = msr::debugctl::TR | msr::debugctl::BTS | msr::debugctl::BTINT |
                             msr::debugctl::BTS_OFF_OS | msr::debugctl::BTS_OFF_USR;

bool is_kernel_address(u64 address) { return static_cast<i64>(address) < 0; }

/// DEBUGCTL bits that have this event's branches stored.
u64 control_for(const perf::Attr& attr) {
  return msr::debugctl::TR | msr::debugctl::BTS | msr::debugctl::BTINT |
         (attr.exclude_kernel ? msr::debugctl::BTS_OFF_OS : 0) |
         (attr.exclude_user ? msr::debugctl::BTS_OFF_USR : 0);
}

}  // namespace

BtsDriver::BtsDriver(RegisterAccess& access, const Enumeration& enumeration, u64 area_address,
                     BtsOptions options)
    : access_(access), enumeration_(enumeration), area_address_(area_address), options_(options) {}

bool BtsDriver::wants_trace(const Event& event) const {
  const perf::Attr& attr = event.attr;
  if (attr.freq || attr.sample_period != 1 || attr.branch_sample_type != 0) return false;
  const auto branches = generic_event_encoding(enumeration_.microarchitecture,
                                               GenericEvent::branch_instructions, enumeration_.arch_events);
  return branches && (event.hw.config & rows::whole_event) == *branches;
}

Fault BtsDriver::set_up() {
  if (ready_) return Fault::none;
  if (access_.probe().memory(area_address_, area_bytes).empty()) {  // a part whose PEBS does without the area
    if (!access_.probe().map_memory(area_address_, area_bytes)) return Fault::pf;
    if (const Fault fault = access_.wrmsr(msr::DS_AREA, area_address_); fault != Fault::none) return fault;
  }
  if (!access_.probe().map_memory(options_.buffer_address, options_.buffer_bytes)) return Fault::pf;
  const u64 base = options_.buffer_address;
  const u64 records = options_.buffer_bytes / record_bytes;
  write_area(offsetof(DsArea64, bts_base), base);
  write_area(offsetof(DsArea64, bts_index), base);
  write_area(offsetof(DsArea64, bts_maximum), base + records * record_bytes);
  write_area(offsetof(DsArea64, bts_threshold), base + (records - records_above_threshold) * record_bytes);
  ready_ = true;
  return Fault::none;
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
  DsArea64 area;
  if (access_.read_memory(area_address_, std::as_writable_bytes(std::span(&area, 1))) != Fault::none)
    return 0;
  const u64 base = area.bts_base, index = area.bts_index;
  if (index <= base) return 0;
  write_area(offsetof(DsArea64, bts_index), base);
  const std::span<const std::byte> buffer = access_.memory(base, index - base);
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
    data.cpl = is_kernel_address(record.from) ? Cpl::kernel : Cpl::user;
    data.address = record.to;
    ++event_->count;
    sink.output(*event_, data, frame != nullptr ? *frame : somewhere);
  }
  return records;
}

void BtsDriver::write_area(u64 offset, u64 value) {
  const le64 word = value;
  access_.write_memory(area_address_ + offset, std::as_bytes(std::span(&word, 1)));
}

void BtsDriver::write_control(u64 bits_on) {
  const Faulty<u64> old = access_.rdmsr(msr::DEBUGCTL);
  if (old.ok()) access_.wrmsr(msr::DEBUGCTL, (*old & ~control_bits) | bits_on);
}

}  // namespace pmusim::driver
