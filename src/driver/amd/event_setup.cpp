// SPDX-License-Identifier: MIT
// What perf_event_open asks of the driver: an attribute becomes register contents or a refusal (Linux:
// amd_pmu_hw_config, x86_pmu_hw_config, amd_core_hw_config).
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <vector>

#include "cpu/generic_events.h"
#include "driver/amd/driver.h"
#include "driver/x86/scheduler.h"
#include "pmusim/arch/msr.h"

namespace pmusim::driver::amd {
namespace {

using perf::Attr;
using perf::Event;
using perf::EventType;
namespace m = msr::amd;

/// Bits of a raw config that this PMU has; Linux drops the others silently.
constexpr u64 raw_bits = m::ctl::EVENT_LOW | m::ctl::EVENT_HIGH | msr::evtsel::UMASK | msr::evtsel::EDGE |
                         msr::evtsel::INV | msr::evtsel::CMASK;

/// Retired floating-point operations: too many in a cycle for one counter.
constexpr u16 flops = 0x003;

Failure<KernelError> refuse_amd(int error, std::string text) {
  return Failure(KernelError(error, std::move(text)));
}

bool is_core_event(const Event& event) {
  const auto type = static_cast<EventType>(event.attr.type);
  return type == EventType::hardware || type == EventType::hw_cache || type == EventType::raw;
}

Result<u64, KernelError> generic_config(const Attr& attr, const Enumeration& cpu) {
  if (cpu.microarchitecture == Microarchitecture::unknown)
    return refuse_amd(
        ENOENT, fmt::format("config: there is no table of generic events for family {:#x}", cpu.family));
  const auto encoding = encode_generic_event(cpu.microarchitecture, attr.config, 0);
  if (encoding.ok()) return encoding->config;
  const u64 id = attr.config & low_bits(32);
  if (encoding.error() == NoEncoding::unknown_event)
    return refuse_amd(EINVAL, fmt::format("config: there is no generic hardware event {}", id));
  return refuse_amd(ENOENT, fmt::format("config: this CPU has no generic event {}", id));
}

Result<u64, KernelError> cache_config(const Attr& attr, const Enumeration& cpu) {
  const u64 config = attr.config & low_bits(32);
  if (cpu.microarchitecture == Microarchitecture::unknown)
    return refuse_amd(ENOENT,
                      fmt::format("config: there is no table of cache events for family {:#x}", cpu.family));
  const auto encoding = encode_cache_event({.core = cpu.microarchitecture, .model = cpu.model}, attr.config);
  if (encoding.ok()) return encoding->config;
  if (encoding.error() == NoEncoding::unknown_event)
    return refuse_amd(EINVAL, fmt::format("config: {:#x} names no cache event", config));
  if (encoding.error() == NoEncoding::senseless)
    return refuse_amd(EINVAL, fmt::format("config: cache event {:#x} makes no sense", config));
  return refuse_amd(ENOENT, fmt::format("config: this CPU does not count cache event {:#x}", config));
}

Result<u64, KernelError> config_of(const Attr& attr, const Enumeration& cpu) {
  switch (static_cast<EventType>(attr.type)) {
    case EventType::hardware:
      return generic_config(attr, cpu);
    case EventType::hw_cache:
      return cache_config(attr, cpu);
    case EventType::raw:
      return attr.config & raw_bits;
    default:
      return refuse_amd(ENOENT, fmt::format("type: {} is not an event of this PMU", attr.type));
  }
}

/// Privilege levels and guests. A host that runs no guest leaves HostOnly out, as it would count nothing then
/// (Linux: perf_ctr_virt_mask).
u64 filters_of(const Attr& attr) {
  if (attr.exclude_host && attr.exclude_guest) return 0;
  u64 filters = 0;
  if (!attr.exclude_user) filters |= msr::evtsel::USR;
  if (!attr.exclude_kernel) filters |= msr::evtsel::OS;
  if (attr.exclude_host) filters |= m::ctl::GUEST_ONLY;
  return filters;
}

/// Only PEBS would record them, or XSAVES, which this driver does not use.
Result<Done, KernelError> check_amd_registers(const Attr& attr) {
  constexpr u64 registers = perf::sample::REGS_USER | perf::sample::REGS_INTR;
  const bool simd = attr.sample_simd_regs_enabled != 0 && (attr.sample_type & registers) != 0;
  if (simd || ((attr.sample_regs_user | attr.sample_regs_intr) & perf::register_mask::XMM_HALVES) != 0)
    return refuse_amd(EINVAL, "sample_regs: this PMU samples general registers alone");
  return Done{};
}

}  // namespace

Result<Done, KernelError> Driver::init(Event& event) {
  event.hw = {};
  data_of(event) = {};
  if (!is_core_event(event))
    return refuse_amd(ENOENT, fmt::format("type: {} is not an event of this PMU", event.attr.type));
  const bool branches = (event.attr.sample_type & perf::sample::BRANCH_STACK) != 0;
  if (branches && cpu_.branch_entries == 0)
    return refuse_amd(EOPNOTSUPP, "branch_sample_type: this CPU has no last-branch records");
  if (event.attr.precise_ip != 0) return forward_to_ibs(event.attr);
  if (auto result = check_amd_registers(event.attr); !result.ok()) return result;
  if (auto result = set_config(event); !result.ok()) return result;
  set_period_at_open(event);
  if (branches)
    if (auto result = branches_->init(event); !result.ok()) return result;
  return check_group(event);
}

/// What instruction-based sampling counts too becomes an event of ibs_op, which ENOENT has the perf core look
/// for. Core counters have no precise events.
Result<Done, KernelError> Driver::forward_to_ibs(Attr& attr) const {
  if (ibs_op_type_ == 0 || attr.precise_ip > 2)
    return refuse_amd(
        EOPNOTSUPP,
        fmt::format("precise_ip: core counters of this CPU have no precise events, and {}",
                    ibs_op_type_ == 0 ? "there is no IBS to stand in" : "IBS stands in for levels 1 and 2"));
  constexpr u64 cycles = 0x76, ops = 0xC1;
  const bool is_raw = attr.type == static_cast<u32>(perf::EventType::raw);
  const bool counts_cycles =
      is_raw ? attr.config == cycles
             : attr.type == static_cast<u32>(perf::EventType::hardware) && attr.config == 0;
  if (!counts_cycles && !(is_raw && attr.config == ops))
    return refuse_amd(ENOENT, "precise_ip: IBS stands in for cycles and dispatched ops (r76, rc1) alone");
  attr.type = ibs_op_type_;
  attr.config = counts_cycles ? 0 : ibs::op::CNT_CTL;
  return refuse_amd(ENOENT, "precise_ip: ibs_op has the event");
}

/// INT is set for counting events too: a counter that wraps has to be folded into the 64-bit count.
Result<Done, KernelError> Driver::set_config(Event& event) const {
  const auto config = config_of(event.attr, cpu_);
  if (!config.ok()) return Failure(config.error());
  data_of(event).config = *config | filters_of(event.attr) | msr::evtsel::INT;
  if (cpu_.merges_counters() && m::ctl::event(*config) == flops) data_of(event).flags |= driver_flag::PAIR;
  return Done{};
}

/// Frequency mode begins with a period of 1, and finds its own.
void Driver::set_period_at_open(Event& event) const {
  perf::HardwareEvent& hw = event.hw;
  const u64 asked = event.attr.freq ? 1 : event.attr.sample_period;
  hw.sample_period = hw.last_period = event.is_sampling() ? asked : cpu_.max_period();
  hw.period_left = static_cast<i64>(hw.sample_period);
}

/// A group that does not fit on an idle PMU would never count.
Result<Done, KernelError> Driver::check_group(const Event& event) const {
  std::vector<Constraint> constraints{constraint_of(event)};
  if (!event.is_leader()) {
    if (is_core_event(*event.leader)) constraints.push_back(constraint_of(*event.leader));
    for (const Event* sibling : event.leader->siblings)
      if (sibling != &event && is_core_event(*sibling) && sibling->state > perf::EventState::off)
        constraints.push_back(constraint_of(*sibling));
  }
  std::array<int, max_scheduled_events> places;
  const std::size_t events = constraints.size();
  if (events <= cpu_.counters && fits(constraints, {places.data(), events})) return Done{};
  return refuse_amd(EINVAL, fmt::format("group_fd: the group's {} events do not fit on {} counters", events,
                                        cpu_.counters));
}

}  // namespace pmusim::driver::amd
