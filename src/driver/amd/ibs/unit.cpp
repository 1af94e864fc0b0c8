// SPDX-License-Identifier: MIT
#include "driver/amd/ibs/unit.h"

#include <algorithm>

#include "base/kernel_address.h"
#include "driver/x86/linux_changes.h"
#include "driver/x86/record_word.h"
#include "perf/refusal.h"
#include "pmusim/arch/msr.h"

namespace pmusim::driver {

using perf::refuse;
using Outcome = Result<Done, KernelError>;

namespace {

constexpr u64 software_filter = 1;          // config2
constexpr u64 least_latency = bits(11, 0);  // config1 of ibs_op
constexpr u32 zen1_and_zen2 = 0x17;

/// The extended LVT entry that firmware gave to IBS, unmasked, as an NMI.
void unmask(RegisterAccess& access) {
  constexpr u64 entry_is_valid = bit(8);
  const u64 control = access.read(ibs::CTL);
  if ((control & entry_is_valid) == 0) return;
  const u32 entry = static_cast<u32>(control & 0xF);
  const u64 apic = access.read(msr::APIC_BASE);
  if ((apic & msr::apic_base::X2APIC) != 0) {
    static_cast<void>(access.wrmsr(msr::X2APIC_EXTENDED_LVT0 + entry, msr::lvtpc::NMI));
    return;
  }
  const le32 word = static_cast<u32>(msr::lvtpc::NMI);
  const u64 address = (apic & msr::apic_base::PAGE) + msr::xapic::EXTENDED_LVT0 + entry * msr::xapic::STRIDE;
  static_cast<void>(access.write_memory(address, std::as_bytes(std::span(&word, 1))));
}

}  // namespace

IbsDriver::Unit::Unit(Bus& bus, IbsSide side, const DriverOptions& options)
    : access_(bus),
      side_(side),
      kernel_(options.kernel),
      part_(IbsPart::of(bus)),
      layout_(layout_of(side, part_)) {
  if (is_there()) unmask(access_);
}

bool IbsDriver::Unit::is_there() const {
  return part_.has(side_ == IbsSide::fetch ? ibs::caps::FETCH_SAMPLING : ibs::caps::OP_SAMPLING);
}

DriverStatistics IbsDriver::Unit::statistics() const {
  return {.interrupts = interrupts_, .faults = access_.faults()};
}

perf::PmuCapabilities IbsDriver::Unit::capabilities() const {
  perf::PmuCapabilities capabilities;
  capabilities.name = layout_.name;
  capabilities.extended_type = false;
  return capabilities;
}

bool IbsDriver::Unit::has_new_rules() const { return perf::has(kernel_, change::ibs_period_rules); }

// --- opening

Outcome IbsDriver::Unit::init(perf::Event& event) const {
  if (!is_there()) return refuse(ENODEV, "type: the CPU has no {}", layout_.name);
  if (auto valid = check_config(event); !valid) return valid;
  if (auto valid = check_privilege(event.attr); !valid) return valid;
  const auto has_unit = [&](const perf::Event* other) {
    return other != &event && other->pmu_place == event.pmu_place;
  };
  if (has_unit(event.leader) || std::ranges::any_of(event.leader->siblings, has_unit))
    return refuse(EINVAL, "group_fd: the group has an event of {} already", layout_.name);
  if (auto valid = set_first_period(event); !valid) return valid;
  return check_latency(event.attr);
}

Outcome IbsDriver::Unit::check_config(const perf::Event& event) const {
  const perf::Attr& attr = event.attr;
  if ((attr.config & ~layout_.config) != 0)
    return refuse(EINVAL, "config: {} has no bits {:#x}", layout_.name, attr.config & ~layout_.config);
  if ((attr.sample_type & perf::sample::BRANCH_STACK) != 0)
    return refuse(EOPNOTSUPP, "sample_type: {} has no branch stack", layout_.name);
  return Done{};
}

Outcome IbsDriver::Unit::check_privilege(const perf::Attr& attr) const {
  const bool filters =
      perf::has(kernel_, change::ibs_software_filter) && (attr.config2 & software_filter) != 0;
  if (attr.exclude_host || attr.exclude_guest || attr.exclude_idle)
    return refuse(EINVAL, "exclude_host, exclude_guest, exclude_idle: {} samples whatever runs",
                  layout_.name);
  if (!filters && (attr.exclude_user || attr.exclude_kernel || attr.exclude_hv))
    return refuse(
        EINVAL, "exclude_user, exclude_kernel, exclude_hv: {} samples whatever runs{}", layout_.name,
        perf::has(kernel_, change::ibs_software_filter) ? "; swfilt=1 drops samples in software" : "");
  return Done{};
}

Outcome IbsDriver::Unit::check_latency(const perf::Attr& attr) const {
  const u64 cycles = latency_of(attr);
  if (cycles == 0) return Done{};
  if (cycles < 128 || cycles > 2048) return refuse(EINVAL, "config1: ldlat {}: 128 to 2048 cycles", cycles);
  return Done{};
}

/// A period is given as such, as a frequency, or in `config` as the control register has it.
Outcome IbsDriver::Unit::set_first_period(perf::Event& event) const {
  perf::Attr& attr = event.attr;
  perf::HardwareEvent& hw = event.hw;
  const u64 in_config = attr.config & (layout_.period | layout_.period_extension);
  const u64 least = has_new_rules() ? layout_.shortest_period : 0x10;
  if (hw.sample_period != 0) {
    if (in_config != 0) return refuse(EINVAL, "config: has a period, and so has sample_period");
    hw.sample_period &= ~u64{0xF};
    if (attr.freq != 0)
      hw.sample_period = std::max(hw.sample_period, least);
    else if (hw.sample_period < least && has_new_rules())
      return refuse(EINVAL, "sample_period: below {}, the least of {}", least, layout_.name);
    else
      hw.sample_period = std::max<u64>(hw.sample_period, 0x10);
  } else {
    if (attr.freq != 0 && has_new_rules()) return refuse(EINVAL, "sample_freq: is 0");
    hw.sample_period = period_of(in_config);
    if (hw.sample_period == 0 || (has_new_rules() && hw.sample_period < least))
      return refuse(EINVAL, "config: a period of {}; {} is the least of {}", hw.sample_period, least,
                    layout_.name);
    attr.sample_period = hw.sample_period;
  }
  hw.last_period = hw.sample_period;
  hw.period_left = static_cast<i64>(hw.sample_period);
  return Done{};
}

/// That loads are asked to have at least; 0: none, or nobody looks at it.
u64 IbsDriver::Unit::latency_of(const perf::Attr& attr) const {
  const bool looks = side_ == IbsSide::op && part_.has(ibs::caps::LATENCY_FILTER) && has_new_rules();
  return looks ? attr.config1 & least_latency : 0;
}

/// The control register without period and enable.
u64 IbsDriver::Unit::control_of(const perf::Event& event) const {
  const perf::Attr& attr = event.attr;
  u64 control = attr.config & ~(layout_.period | layout_.period_extension);
  const u64 latency = latency_of(attr);
  if (latency == 0) return control;
  return control | ibs::op::LATENCY_FILTER | ibs::op::L3_MISS_ONLY | to_field((latency >> 7) - 1, 62, 59);
}

// --- counting

u64 IbsDriver::Unit::period_of(u64 control) const {
  return (control & layout_.period) << 4 | (control & layout_.period_extension);
}

/// Of the period that the unit is in.
u64 IbsDriver::Unit::counted(u64 control) const {
  const u64 count = (control & layout_.count) >> std::countr_zero(layout_.count);
  return side_ == IbsSide::fetch ? count << 4 : count;
}

void IbsDriver::Unit::count(perf::Event& event, u64 occurrences) const {
  event.count += occurrences;
  event.hw.period_left -= static_cast<i64>(occurrences);
}

/// How long the unit counts next: what is left of the period, but no longer than it can, nor so that less
/// than the least would be left. True: a new period has begun.
bool IbsDriver::Unit::begin_period(perf::Event& event, u64& hardware_period) const {
  perf::HardwareEvent& hw = event.hw;
  const i64 period = static_cast<i64>(hw.sample_period);
  const i64 least = has_new_rules() ? static_cast<i64>(layout_.shortest_period) : 0x10;
  const i64 most = static_cast<i64>(layout_.longest_period);
  bool begins = false;
  if (hw.period_left <= -period) {
    hw.period_left = period;
    begins = true;
  } else if (hw.period_left < least) {
    hw.period_left += period;
    begins = true;
  }
  if (begins) hw.last_period = hw.sample_period;
  i64 left = hw.period_left;
  if (left > most) {
    left -= most;
    left = left > most ? most : std::max(left, least);
  }
  hardware_period = static_cast<u64>(left);
  return begins;
}

void IbsDriver::Unit::program(const perf::Event& event, u64 hardware_period, u64 random_bits) {
  u64 control = control_of(event) | (hardware_period >> 4 & layout_.period) |
                (hardware_period & layout_.period_extension) | random_bits;
  // Family 17H takes a new count with the enable alone.
  if (side_ == IbsSide::fetch && part_.family == zen1_and_zen2)
    static_cast<void>(access_.wrmsr(layout_.control, control));
  static_cast<void>(access_.wrmsr(layout_.control, control | layout_.enable));
}

void IbsDriver::Unit::start(perf::Event& event, StartMode) {
  if (!event.hw.stopped) return;
  event.hw.stopped = false;
  keep_to_least_period(event);
  u64 period = 0;
  begin_period(event, period);
  if (perf::has(kernel_, change::ibs_interrupts_accounted))
    static_cast<void>(access_.wrmsr(layout_.control, 0));
  program(event, period, 0);
}

/// A frequency may ask for a shorter one.
void IbsDriver::Unit::keep_to_least_period(perf::Event& event) const {
  if (event.attr.freq != 0 && has_new_rules())
    event.hw.sample_period = std::max(event.hw.sample_period, layout_.shortest_period);
}

/// Of a period that is given later: at first any multiple of 16 will do, or what lies above one.
Outcome IbsDriver::Unit::check_period(const perf::Event& event, u64 period) const {
  if (event.attr.freq != 0 || !has_new_rules()) return Done{};
  if ((period & 0xF) == 0 && period >= layout_.shortest_period) return Done{};
  return refuse(EINVAL, "PERIOD: {} is no multiple of 16 from {} on", period, layout_.shortest_period);
}

/// A sample that became valid just now has an interrupt under way, which will find nothing.
void IbsDriver::Unit::stop(perf::Event& event) {
  if (event.hw.stopped) return;
  event.hw.stopped = true;
  late_interrupt_ = true;
  const u64 control = access_.read(layout_.control);
  static_cast<void>(access_.wrmsr(layout_.control, control & ~(layout_.enable | layout_.cleared_at_stop)));
  count(event, counted(control));
}

bool IbsDriver::Unit::add(perf::Event& event) {
  if (event_ != nullptr) return false;
  event_ = &event;
  added_ = true;
  event.hw.stopped = true;
  start(event, StartMode::reload);
  return true;
}

void IbsDriver::Unit::remove(perf::Event& event) {
  stop(event);
  event_ = nullptr;
}

void IbsDriver::Unit::cancel() {
  if (added_ && event_ != nullptr) remove(*event_);
  added_ = false;
}

// --- samples

bool IbsDriver::Unit::handle(const InterruptFrame& frame) {
  if (!is_there()) return false;
  const u64 control = access_.read(layout_.control);
  const bool is_valid = (control & layout_.valid) != 0;
  if (event_ == nullptr || event_->hw.stopped || !is_valid) return std::exchange(late_interrupt_, false);
  ++interrupts_;
  perf::Event& event = *event_;
  count(event, side_ == IbsSide::fetch ? counted(control) : period_of(control));
  read_registers(control);
  u64 hardware_period = 0;
  const u64 period = event.hw.last_period;
  const bool is_over = begin_period(event, hardware_period);
  if (is_over && !sample(event, frame, period)) {
    stop(event);
    return true;
  }
  // Random low bits that the unit has put into the count go on into the next period.
  const bool keeps_random =
      side_ == IbsSide::op && part_.has(ibs::caps::READ_WRITE_OP_COUNT) && (control & ibs::op::CNT_CTL) != 0;
  program(event, hardware_period, keeps_random ? control & bits(38, 32) : 0);
  return true;
}

void IbsDriver::Unit::read_registers(u64 control) {
  registers_[0] = control;
  for (std::size_t n = 1; n < layout_.registers.size(); ++n)
    registers_[n] = access_.read(layout_.registers[n]);
}

u64 IbsDriver::Unit::value_of(u32 address) const {
  const auto at = std::ranges::find(layout_.registers, address);
  return at == layout_.registers.end() ? 0
                                       : registers_[static_cast<std::size_t>(at - layout_.registers.begin())];
}

/// Of a sample that was taken where the event does not count, in software.
bool IbsDriver::Unit::is_left_out(const perf::Attr& attr, u64 ip) const {
  if ((attr.config2 & software_filter) == 0) return false;
  if (is_kernel_address(ip) ? attr.exclude_kernel != 0 : attr.exclude_user != 0) return true;
  if (side_ != IbsSide::op || attr.exclude_kernel == 0) return false;
  const bool shows_data = (attr.sample_type & (perf::sample::ADDR | perf::sample::RAW)) != 0;
  if (shows_data && (value_of(ibs::OP_DATA3) & ibs::data3::LINEAR_VALID) != 0 &&
      is_kernel_address(value_of(ibs::DC_LIN_AD)))
    return true;
  return (attr.sample_type & perf::sample::RAW) != 0 && (value_of(ibs::OP_DATA) & ibs::data::BRANCH) != 0 &&
         is_kernel_address(value_of(ibs::BR_TARGET));
}

void IbsDriver::Unit::describe_access(const perf::Attr& attr, perf::SampleData& data) const {
  const u64 data3 = value_of(ibs::OP_DATA3);
  if ((data3 & (ibs::data3::LOAD | ibs::data3::STORE)) == 0) return;
  if ((data3 & ibs::data3::LINEAR_VALID) != 0) data.address = value_of(ibs::DC_LIN_AD);
  if ((data3 & ibs::data3::PHYSICAL_VALID) != 0) data.physical_address = value_of(ibs::DC_PHYS_AD);
  data.data_source = ibs_data_source(part_, value_of(ibs::OP_DATA2), data3);
  constexpr u64 missed_load = ibs::data3::LOAD | ibs::data3::DC_MISS;
  if ((data3 & missed_load) != missed_load) return;
  const u64 latency = field(data3, 47, 32);
  const bool is_struct = (attr.sample_type & perf::sample::WEIGHT_STRUCT) != 0;
  data.weight = latency | (is_struct ? field(value_of(ibs::OP_DATA), 31, 16) << 32 : 0);
}

/// Of a load that was asked to be slow. The unit compares in steps of 128 cycles.
bool IbsDriver::Unit::is_fast(const perf::Attr& attr) const {
  const u64 latency = latency_of(attr), data3 = value_of(ibs::OP_DATA3);
  constexpr u64 missed_load = ibs::data3::LOAD | ibs::data3::DC_MISS;
  const bool is_slow = (data3 & missed_load) == missed_load && field(data3, 47, 32) > latency;
  return latency != 0 && !is_slow;
}

/// Of samples that come to nothing: false as for sample().
bool IbsDriver::Unit::drop(perf::Event& event) {
  return !perf::has(kernel_, change::ibs_interrupts_accounted) ||
         sink_->account_interrupt(event) == perf::SampleSink::Verdict::keep;
}

/// False: the event interrupts too often, or has had its last sample.
bool IbsDriver::Unit::sample(perf::Event& event, const InterruptFrame& frame, u64 period) {
  const perf::Attr& attr = event.attr;
  constexpr u64 rip_invalid = bit(38);
  perf::SampleData data;
  data.period = period;
  const bool has_ip = side_ == IbsSide::fetch || !part_.has(ibs::caps::RIP_INVALID) ||
                      (value_of(ibs::OP_DATA) & rip_invalid) == 0;
  const u64 ip = has_ip ? registers_[1] : frame.registers.rip;
  if (has_ip) {
    data.ip = ip;
    data.exact_ip = true;
    data.cpl = ring_at(ip);
  }
  pmusim::Registers at_ip = frame.registers;
  at_ip.rip = ip;
  data.registers = &at_ip;
  if (side_ == IbsSide::op) {
    describe_access(attr, data);
    if (is_fast(attr)) return drop(event);
  }
  // Erratum 1197: a fetch at address 0 did not happen.
  if (side_ == IbsSide::fetch && part_.is_milan() && ip == 0) return drop(event);
  if (is_left_out(attr, ip)) return sink_->account_interrupt(event) == perf::SampleSink::Verdict::keep;

  std::array<std::byte, sizeof(u32) + sizeof(Registers)> raw;
  const std::size_t bytes = sizeof(u32) + layout_.registers.size() * sizeof(u64);
  if ((attr.sample_type & perf::sample::RAW) != 0) {
    const le32 caps = part_.caps;
    std::memcpy(raw.data(), &caps, sizeof caps);
    for (std::size_t n = 0; n < layout_.registers.size(); ++n)
      store_word(raw.data() + sizeof caps + n * sizeof(u64), registers_[n]);
    data.raw = std::span(raw).first(bytes);
  }
  const bool goes_on = sink_->overflow(event, data, frame) == perf::SampleSink::Verdict::keep;
  keep_to_least_period(event);
  return goes_on;
}

// --- the driver

IbsDriver::IbsDriver(Bus& bus, IbsSide side, DriverOptions options)
    : unit_(std::make_unique<Unit>(bus, side, options)) {}
IbsDriver::~IbsDriver() = default;
perf::Change IbsDriver::level_filter() { return change::ibs_software_filter; }
void IbsDriver::attach(perf::SampleSink& sink) { unit_->attach(sink); }
bool IbsDriver::is_there() const { return unit_->is_there(); }
DriverStatistics IbsDriver::statistics() const { return unit_->statistics(); }
bool IbsDriver::handle_nmi(const InterruptFrame& frame) { return unit_->handle(frame); }
perf::PmuCapabilities IbsDriver::capabilities() const { return unit_->capabilities(); }
Outcome IbsDriver::init(perf::Event& event) { return unit_->init(event); }
void IbsDriver::begin() { unit_->begin(); }
bool IbsDriver::commit() { return true; }
void IbsDriver::cancel() { unit_->cancel(); }
bool IbsDriver::add(perf::Event& event) { return unit_->add(event); }
void IbsDriver::remove(perf::Event& event) { unit_->remove(event); }
void IbsDriver::start(perf::Event& event, StartMode mode) { unit_->start(event, mode); }
void IbsDriver::stop(perf::Event& event, StopMode) { unit_->stop(event); }
Outcome IbsDriver::check_period(const perf::Event& event, u64 period) const {
  return unit_->check_period(event, period);
}

}  // namespace pmusim::driver
