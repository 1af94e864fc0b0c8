// SPDX-License-Identifier: MIT
#include <bit>

#include "driver/debug_store/pebs.h"
#include "driver/samples/pebs_sample.h"
#include "driver/samples/recorded_counts.h"
#include "pmusim/arch/pebs_format.h"

namespace pmusim::driver {

namespace {

constexpr u64 area_bytes = 4096;
constexpr u64 format_0_buffer_bytes = 4096;  // larger ones hang Core 2
constexpr unsigned first_fixed = 32;
constexpr u64 load_latency_enable = bit(32);  // PEBS_ENABLE bit of GP 0, perfmon 4 and before
constexpr u64 precise_store_enable = bit(63);

/// Bytes by which records are counted off when the buffer is set up.
u32 boot_record_bytes(unsigned format) {
  return pebs::is_fixed(format) ? pebs::fixed_record_bytes(format) : 32;
}

unsigned highest_bit_plus_1(u64 mask) { return static_cast<unsigned>(std::bit_width(mask)); }

}  // namespace

PebsDriver::PebsDriver(RegisterAccess& access, const Enumeration& enumeration, PebsHost& host,
                       PebsOptions options)
    : access_(access),
      enumeration_(enumeration),
      host_(host),
      options_(options),
      samples_(std::make_unique<PebsSampleBuilder>(enumeration, host)),
      counts_(std::make_unique<RecordedCounts>(enumeration)) {}

PebsDriver::~PebsDriver() = default;

u64 PebsDriver::buffer_status() const {
  return enumeration_.arch_pebs() ? msr::status::ARCH_PEBS : msr::status::OVF_BUF;
}

u64 PebsDriver::buffer_bytes() const {
  return pebs::has_registers_alone(enumeration_.pebs_format) ? format_0_buffer_bytes : options_.buffer_bytes;
}

DrainOrder PebsDriver::drain_order() const {
  return perf::has(options_.kernel, perf::Change::drain_in_record_order) ? DrainOrder::record
                                                                         : DrainOrder::grouped;
}

Fault PebsDriver::set_up() {
  if (!available()) return Fault::none;
  return enumeration_.arch_pebs() ? set_up_arch() : set_up_area();
}

Fault PebsDriver::set_up_area() {
  record_bytes_ = boot_record_bytes(enumeration_.pebs_format);
  if (!access_.probe().map_memory(options_.area_address, area_bytes)) return Fault::pf;
  if (!access_.probe().map_memory(options_.buffer_address, buffer_bytes())) return Fault::pf;
  const u64 base = options_.buffer_address;
  write_area(offsetof(DsArea64, pebs_base), base);
  write_area(offsetof(DsArea64, pebs_index), base);
  write_area(offsetof(DsArea64, pebs_maximum), base + buffer_bytes() / record_bytes_ * record_bytes_);
  write_area(offsetof(DsArea64, pebs_threshold), base + record_bytes_);
  return access_.wrmsr(msr::DS_AREA, options_.area_address);
}

Fault PebsDriver::set_up_arch() {
  using namespace pebs;
  const u64 address = options_.physical_buffer_address;
  if (!access_.probe().map_memory(address, options_.buffer_bytes)) return Fault::pf;
  const auto size = static_cast<u64>(std::countr_zero(options_.buffer_bytes / 4096));
  if (const Fault fault = access_.wrmsr(msr::PEBS_BASE, address | (size & base_register::SIZE));
      fault != Fault::none)
    return fault;
  return access_.wrmsr(msr::PEBS_INDEX, index_register::ENABLE | to_field(arch_threshold_, 58, 36));
}

void PebsDriver::write_area(u64 offset, u64 value) {
  const le64 word = value;
  access_.write_memory(options_.area_address + offset, std::as_bytes(std::span(&word, 1)));
}

void PebsDriver::add(perf::Event& event, const EventMap& events) {
  if ((event.hw.flags & pebs_flag::PRECISE) == 0) return;
  const u64 wanted = data_config_of(event);
  const u64 config = active_ == 0 ? wanted : data_config_ | wanted;
  ++active_;
  if ((event.hw.flags & pebs_flag::LARGE) != 0) ++large_;
  if (enumeration_.pebs_baseline && uses_memory_area()) program_layout(config, events);
  program_threshold(events);
}

void PebsDriver::remove(perf::Event& event, const EventMap& events) {
  if ((event.hw.flags & pebs_flag::PRECISE) == 0) return;
  if (all_large()) drain(DrainTrigger::event_disable, events, nullptr);
  --active_;
  if ((event.hw.flags & pebs_flag::LARGE) != 0) --large_;
  program_threshold(events);
}

void PebsDriver::program_layout(u64 data_config, const EventMap& events) {
  if (data_config == data_config_) return;
  drain(DrainTrigger::reconfigure, events, nullptr);
  data_config_ = data_config;
  record_bytes_ = pebs::adaptive_layout(data_config).size;
  access_.wrmsr(msr::PEBS_DATA_CFG, data_config);
}

/// Bytes of records after which hardware interrupts.
u64 PebsDriver::threshold_offset() const {
  if (!all_large()) return record_bytes_;
  const u64 pebs_gp = enumeration_.pebs_counters & low_bits(first_fixed);
  const u64 reserved_records =
      highest_bit_plus_1(pebs_gp) +
      (enumeration_.extended_pebs() ? highest_bit_plus_1(enumeration_.pebs_counters >> first_fixed) : 0);
  const u64 boot_bytes = boot_record_bytes(enumeration_.pebs_format);
  const u64 usable = buffer_bytes() / boot_bytes * boot_bytes;
  const u64 reserved = reserved_records * record_bytes_;
  return reserved < usable ? usable - reserved : record_bytes_;
}

void PebsDriver::program_threshold(const EventMap& events) {
  if (uses_memory_area()) {
    write_area(offsetof(DsArea64, pebs_threshold), options_.buffer_address + threshold_offset());
    return;
  }
  if (!enumeration_.arch_pebs()) return;
  // One record can be almost a page long.
  const u64 threshold = all_large() && options_.buffer_bytes > 4096 ? (options_.buffer_bytes - 4096) / 16 : 1;
  if (threshold == arch_threshold_) return;
  if (threshold == 1) drain(DrainTrigger::reconfigure, events, nullptr);
  arch_threshold_ = threshold;
  const Faulty<u64> index = access_.rdmsr(msr::PEBS_INDEX);
  if (!index.ok()) return;
  const u64 rest = *index & ~pebs::index_register::THRESHOLD;
  access_.wrmsr(msr::PEBS_INDEX, rest | to_field(threshold, 58, 36));
}

PebsCounterBits PebsDriver::enable(perf::Event& event) {
  if ((event.hw.flags & pebs_flag::PRECISE) == 0 || event.hw.index < 0) return {};
  const auto counter = static_cast<unsigned>(event.hw.index);
  enabled_ |= bit(counter);
  if (enumeration_.arch_pebs()) return {.cfg_c = cfg_c_of(event)};

  enable_word_ |= bit(counter);
  if ((event.hw.flags & pebs_flag::LOAD_LATENCY) != 0 && enumeration_.perfmon_version < 5)
    enable_word_ |= load_latency_enable << counter;
  if ((event.hw.flags & pebs_flag::PRECISE_STORE) != 0) enable_word_ |= precise_store_enable;
  if (const auto slot = reset_slot_offset(DsWidth::bits_64, enumeration_.pebs_format, counter)) {
    const bool reload = (event.hw.flags & pebs_flag::AUTO_RELOAD) != 0;
    write_area(*slot, reload ? (0 - event.hw.sample_period) & enumeration_.counter_mask() : 0);
  }
  return {.adaptive = enumeration_.pebs_baseline};
}

void PebsDriver::disable(perf::Event& event, const EventMap& events) {
  if ((event.hw.flags & pebs_flag::PRECISE) == 0 || event.hw.index < 0) return;
  if (all_large()) drain(DrainTrigger::event_disable, events, nullptr);
  const auto counter = static_cast<unsigned>(event.hw.index);
  enabled_ &= ~bit(counter);
  enable_word_ &= ~bit(counter);
  if ((event.hw.flags & pebs_flag::LOAD_LATENCY) != 0 && enumeration_.perfmon_version < 5)
    enable_word_ &= ~(load_latency_enable << counter);
  if ((event.hw.flags & pebs_flag::PRECISE_STORE) != 0) enable_word_ &= ~precise_store_enable;
}

void PebsDriver::write_enable() {
  if (uses_memory_area()) access_.wrmsr(msr::PEBS_ENABLE, enable_word_);
}

void PebsDriver::clear_enable() {
  if (uses_memory_area()) access_.wrmsr(msr::PEBS_ENABLE, 0);
}

}  // namespace pmusim::driver
