// SPDX-License-Identifier: MIT
#include <bit>

#include "driver/intel/debug_store/pebs.h"
#include "driver/intel/samples/pebs_sample.h"
#include "driver/intel/samples/recorded_counts.h"
#include "driver/intel/samples/run_writer.h"
#include "driver/x86/constraint.h"
#include "driver/x86/linux_changes.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

namespace {

constexpr u64 format_0_buffer_bytes = 4096;   // larger ones hang Core 2
constexpr u64 load_latency_enable = bit(32);  // PEBS_ENABLE bit of GP 0, perfmon 4 and before
constexpr u64 precise_store_enable = bit(63);

/// Bytes by which records are counted off when the buffer is set up.
u32 boot_record_bytes(unsigned format) {
  return pebs::is_fixed(format) ? pebs::fixed_record_bytes(format) : 32;
}

/// DATA_CFG for records that store these counters.
u64 stored_in_adaptive(u64 counters) {
  using namespace pebs::data_cfg;
  if (counters == 0) return 0;
  return COUNTERS | ((counters & counter::METRIC_BITS) != 0 ? METRICS : 0) |
         to_field(field(counters, 15, 0), 47, 32) | to_field(field(counters, 39, 32), 55, 48);
}

unsigned highest_bit_plus_1(u64 mask) { return static_cast<unsigned>(std::bit_width(mask)); }

}  // namespace

PebsDriver::PebsDriver(RegisterAccess& access, DebugStoreArea& area, const Enumeration& enumeration,
                       PebsHost& host, PebsOptions options)
    : access_(access),
      area_(area),
      arch_buffer_(access, {.linear = options.buffer_address,
                            .physical = options.physical_buffer_address,
                            .bytes = options.buffer_bytes}),
      enumeration_(enumeration),
      host_(host),
      options_(options),
      samples_(std::make_unique<PebsSampleBuilder>(enumeration, host)),
      runs_(std::make_unique<RunWriter>(enumeration)),
      counts_(std::make_unique<RecordedCounts>(enumeration)) {}

PebsDriver::~PebsDriver() = default;

u64 PebsDriver::buffer_status() const {
  return enumeration_.arch_pebs() ? msr::status::ARCH_PEBS : msr::status::OVF_BUF;
}

u64 PebsDriver::buffer_bytes() const {
  return pebs::has_registers_alone(enumeration_.pebs_format) ? format_0_buffer_bytes : options_.buffer_bytes;
}

DrainOrder PebsDriver::drain_order() const {
  return perf::has(enumeration_.kernel, change::drain_in_record_order) ? DrainOrder::record
                                                                       : DrainOrder::grouped;
}

Fault PebsDriver::set_up() {
  if (!available()) return Fault::none;
  if (enumeration_.arch_pebs()) return arch_buffer_.set_up();
  record_bytes_ = boot_record_bytes(enumeration_.pebs_format);
  return area_.set_up(DebugStoreArea::Writer::pebs, {.address = options_.buffer_address,
                                                     .bytes = buffer_bytes(),
                                                     .record_bytes = record_bytes_,
                                                     .threshold_bytes = record_bytes_});
}

void PebsDriver::add(const perf::Event& event) {
  if (!has_flag(event, pebs_flag::PRECISE)) return;
  if (active_ == 0) wanted_config_ = recorded_counters_ = 0;
  ++active_;
  wanted_config_ |= data_config_of(event);
  if (has_flag(event, pebs_flag::LARGE)) ++large_;
  program_threshold();
}

void PebsDriver::remove(const perf::Event& event) {
  if (!has_flag(event, pebs_flag::PRECISE)) return;
  --active_;
  if (has_flag(event, pebs_flag::LARGE)) --large_;
  program_threshold();
}

/// A drain takes records of one layout: those of the last one come out before another begins.
void PebsDriver::program_layout(const EventMap& events) {
  const u64 wanted = wanted_config_ | stored_in_adaptive(recorded_counters_);
  if (wanted == data_config_ || !enumeration_.pebs_baseline || !uses_memory_area()) return;
  drain(DrainTrigger::reconfigure, events, nullptr);
  data_config_ = wanted;
  record_bytes_ = pebs::adaptive_layout(data_config_).size;
  access_.wrmsr(msr::PEBS_DATA_CFG, data_config_);
  program_threshold();
}

/// Bytes of records after which hardware interrupts.
u64 PebsDriver::threshold_offset() const {
  if (!all_large()) return record_bytes_;
  // Room for a record of each general counter, whichever of them have PEBS (Linux: pebs_update_threshold).
  const u64 all = enumeration_.extended_pebs() ? enumeration_.pebs_counters : enumeration_.counters;
  const u64 pebs_gp = all & low_bits(counter::FIXED);
  const u64 reserved_records =
      highest_bit_plus_1(pebs_gp) +
      (enumeration_.extended_pebs() ? highest_bit_plus_1(enumeration_.pebs_counters >> counter::FIXED) : 0);
  const u64 boot_bytes = boot_record_bytes(enumeration_.pebs_format);
  const u64 usable = buffer_bytes() / boot_bytes * boot_bytes;
  const u64 reserved = reserved_records * record_bytes_;
  return reserved < usable ? usable - reserved : record_bytes_;
}

void PebsDriver::program_threshold() {
  if (uses_memory_area()) area_.set_threshold(DebugStoreArea::Writer::pebs, threshold_offset());
}

/// Bytes of records after which hardware interrupts, as a drain and an event that starts set them.
u64 PebsDriver::arch_threshold() const {
  // One record can be almost a page long.
  constexpr u64 every_record = 16, longest_record = 4096;
  const bool many = all_large() && options_.buffer_bytes > longest_record;
  return many ? options_.buffer_bytes - longest_record : every_record;
}

/// As an event starts; those that run have the threshold of before until then (Linux:
/// intel_pmu_enable_event_ext).
void PebsDriver::program_arch_threshold(const EventMap& events) {
  if (!arch_buffer_.change_threshold(arch_threshold())) drain(DrainTrigger::reconfigure, events, nullptr);
}

bool PebsDriver::enable(perf::Event& event, const EventMap& events) {
  if (!has_flag(event, pebs_flag::PRECISE) || data_of(event).index < 0) return false;
  program_layout(events);
  const auto counter = counter_of(event);
  enabled_ |= bit(counter);
  if (enumeration_.arch_pebs()) return false;
  enable_word_ |= bit(counter);
  if (has_flag(event, pebs_flag::LOAD_LATENCY) && enumeration_.perfmon_version < 5)
    enable_word_ |= load_latency_enable << counter;
  if (has_flag(event, pebs_flag::PRECISE_STORE)) enable_word_ |= precise_store_enable;
  if (const auto slot = reset_slot_offset(DsWidth::bits_64, enumeration_.pebs_format, counter)) {
    const bool reload = has_flag(event, pebs_flag::AUTO_RELOAD);
    area_.set_reset(*slot, reload ? (0 - event.hw.sample_period) & enumeration_.counter_mask() : 0);
  }
  return enumeration_.pebs_baseline;
}

u64 PebsDriver::start_records(const perf::Event& event, const EventMap& events) {
  if (!has_flag(event, pebs_flag::PRECISE)) return cfg_c_beside(event);
  program_arch_threshold(events);
  return cfg_c_of(event);
}

void PebsDriver::disable(perf::Event& event, const EventMap& events) {
  if (!has_flag(event, pebs_flag::PRECISE) || data_of(event).index < 0) return;
  if (all_large()) drain(DrainTrigger::event_disable, events, nullptr);
  const auto counter = counter_of(event);
  enabled_ &= ~bit(counter);
  enable_word_ &= ~bit(counter);
  if (has_flag(event, pebs_flag::LOAD_LATENCY) && enumeration_.perfmon_version < 5)
    enable_word_ &= ~(load_latency_enable << counter);
  if (has_flag(event, pebs_flag::PRECISE_STORE)) enable_word_ &= ~precise_store_enable;
}

void PebsDriver::write_enable() {
  if (uses_memory_area()) access_.wrmsr(msr::PEBS_ENABLE, enable_word_);
}

void PebsDriver::enable_all() {
  if (enable_word_ != 0) write_enable();
}

void PebsDriver::disable_all() {
  if (uses_memory_area() && enable_word_ != 0) access_.wrmsr(msr::PEBS_ENABLE, 0);
}

}  // namespace pmusim::driver
