// SPDX-License-Identifier: MIT
// What perf_event_open asks of the driver: an attribute becomes register contents or a refusal.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "cpu/generic_events.h"
#include "driver/intel/cores/core_traits.h"
#include "driver/intel/counters/topdown.h"
#include "driver/intel/intel_driver.h"
#include "driver/intel/scheduling/acr_group.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {
namespace {

using perf::Attr;
using perf::Event;
using perf::EventType;
using perf::HardwareId;

Failure<KernelError> refuse_event(int error, std::string text) {
  return Failure(KernelError(error, std::move(text)));
}

/// The upper half of config can name a PMU, which the perf core has chosen by then.
u64 generic_part(const Attr& attr) { return attr.config & low_bits(32); }

/// Bits of a raw config that this PMU has; perf drops the others silently.
u64 raw_mask(const Enumeration& cpu) {
  using namespace msr::evtsel;
  u64 mask = EVENT | UMASK | EDGE | INV | CMASK | ANY;
  if ((cpu.perfmon_ext & bit(0)) != 0) mask |= UMASK2;
  if ((cpu.perfmon_ext & bit(1)) != 0) mask |= EQ;
  if ((cpu.perfmon_ext & bit(2)) != 0) mask |= RDPMC_USR_DISABLE;
  if (cpu.rtm || cpu.hle) mask |= IN_TX | IN_TXCP;
  return mask;
}

/// Events per second that a frequency-mode event is expected to have at most, for its first period. The
/// attribute decides, not the encoding: the same event asked for as a raw one starts lower.
u64 start_factor(const Attr& attr) {
  constexpr u64 raw = 64 * 4000;
  if (static_cast<EventType>(attr.type) == EventType::hw_cache) return 25'000'000;
  if (static_cast<EventType>(attr.type) != EventType::hardware) return raw;
  switch (static_cast<HardwareId>(generic_part(attr))) {
    case HardwareId::branch_instructions:
    case HardwareId::branch_misses:
      return 125'000'000;
    case HardwareId::cache_references:
    case HardwareId::cache_misses:
      return 25'000'000;
    default:
      return 500'000'000;
  }
}

u64 alias_of_cycles(CyclesAlias alias, unsigned precise) {
  constexpr u64 retired = 0x00C0 | rows::cycles_alias, uops = 0x01C2 | rows::cycles_alias,
                distributed = 0x01C0 | rows::cycles_alias;
  switch (alias) {
    case CyclesAlias::none:
      return 0x003C;
    case CyclesAlias::core2:
      return retired;
    case CyclesAlias::sandy_bridge:
      return uops;
    case CyclesAlias::ivy_bridge:
      return precise > 2 ? distributed : uops;
    case CyclesAlias::skylake:
      return precise > 2 ? distributed : retired;
  }
  return 0x003C;
}

constexpr u64 guest_lbr = 0x1B00;  // config of the event that keeps the LBR on for a guest

Result<EventEncoding, KernelError> generic_encoding(const Attr& attr, const Enumeration& cpu) {
  const auto encoding = encode_generic_event(cpu.microarchitecture, attr.config, cpu.arch_events);
  if (encoding.ok()) return EventEncoding{.config = encoding->config, .extra = attr.config1};
  const u64 id = generic_part(attr);
  if (encoding.error() == NoEncoding::unknown_event)
    return refuse_event(EINVAL, fmt::format("config: there is no generic hardware event {}", id));
  return refuse_event(ENOENT, fmt::format("config: this CPU has no generic event {}", id));
}

Result<EventEncoding, KernelError> cache_encoding(const Attr& attr, const Enumeration& cpu) {
  const auto edition = perf::has(cpu.kernel, change::corrected_tables) ? CacheTable::Edition::corrected
                                                                       : CacheTable::Edition::first;
  const auto encoding = encode_cache_event(
      {.core = cpu.microarchitecture, .model = cpu.model, .edition = edition}, attr.config);
  if (encoding.ok()) return *encoding;
  const u64 config = generic_part(attr);
  if (encoding.error() == NoEncoding::unknown_event)
    return refuse_event(EINVAL, fmt::format("config: {:#x} names no cache event", config));
  if (encoding.error() == NoEncoding::senseless)
    return refuse_event(EINVAL, fmt::format("config: cache event {:#x} makes no sense", config));
  return refuse_event(ENOENT, fmt::format("config: this CPU does not count cache event {:#x}", config));
}

/// What the event select and the extra register of an event hold; the driver adds privilege levels. Events of
/// a type that the PMU has got for itself are raw ones (Linux: hybrid PMUs beside the one of type raw).
Result<EventEncoding, KernelError> encoding_of(const Attr& attr, const Enumeration& cpu) {
  switch (static_cast<EventType>(attr.type)) {
    case EventType::hardware:
      return generic_encoding(attr, cpu);
    case EventType::hw_cache:
      return cache_encoding(attr, cpu);
    case EventType::software:
    case EventType::tracepoint:
    case EventType::breakpoint:
      return refuse_event(ENOENT, fmt::format("type: {} is not an event of this PMU", attr.type));
    case EventType::raw:
      break;
  }
  const u64 config = attr.config & raw_mask(cpu);
  if ((config & msr::evtsel::ANY) != 0 && !cpu.any_thread)
    return refuse_event(EINVAL, "config: this CPU cannot count for the sibling thread (bit 21)");
  return EventEncoding{.config = config, .extra = attr.config1};
}

}  // namespace

Result<Done, KernelError> IntelDriver::init(Event& event) {
  event.hw = {};
  data_of(event) = {};
  if (auto result = set_config(event); !result.ok()) return result;
  if (auto result = set_period_at_open(event); !result.ok()) return result;
  if (auto result = check_registers(event); !result.ok()) return result;
  data_of(event).flags |= register_flag(event.attr);
  if (bts_.wants_trace(event)) {
    if (auto result = set_up_branch_trace(event); !result.ok()) return result;
  } else if (auto result = set_up_precise(event); !result.ok()) {
    return result;
  }
  if (event.attr.branch_sample_type != 0)
    if (auto result = lbr_.init(event); !result.ok()) return result;
  if (has_flag(event, driver_flag::GUEST_LBR) && event.attr.precise_ip != 0)
    return refuse_event(EINVAL, "precise_ip: the guest LBR event counts nothing that could be precise");
  if (auto result = check_topdown(event, cpu_, constraints_); !result.ok()) return result;
  if (auto result = set_extra_register(event); !result.ok()) return result;
  if (auto result = check_load_latency(event); !result.ok()) return result;
  if (auto result = check_acr_group(event, cpu_, max_period()); !result.ok()) return result;
  if (auto result = check_group(event); !result.ok()) return result;
  return claim_branch_hardware(event);
}

Result<Done, KernelError> IntelDriver::set_up_branch_trace(Event& event) {
  if (!cpu_.has_bts)
    return refuse_event(EOPNOTSUPP,
                        "sample_period: a sample of every branch needs a branch trace store, which this CPU "
                        "has not");
  if (event.attr.exclude_kernel == 0)
    return refuse_event(EOPNOTSUPP, "exclude_kernel: every branch can be sampled in user mode only");
  if (event.attr.precise_ip != 0)
    return refuse_event(
        EOPNOTSUPP, "precise_ip: samples of every branch come from the branch trace store, not from PEBS");
  if (bts_.set_up() != Fault::none)
    return refuse_event(ENOMEM, "sample_period: there is no memory for a trace of every branch");
  data_of(event).flags |= driver_flag::BRANCH_TRACE;
  return Done{};
}

/// LBR and branch trace store cannot be on together, not even for events that take turns.
Result<Done, KernelError> IntelDriver::claim_branch_hardware(Event& event) {
  const bool trace = has_flag(event, driver_flag::BRANCH_TRACE);
  if (!trace && !LbrDriver::uses_lbr(event)) return Done{};
  if ((trace ? open_stacks_ : open_traces_) != 0)
    return refuse_event(
        EBUSY, trace ? "sample_period: another event has the LBR, which a trace of every branch excludes"
                     : "branch_sample_type: another event traces every branch, which excludes the LBR");
  ++(trace ? open_traces_ : open_stacks_);
  data_of(event).flags |= driver_flag::BRANCH_HARDWARE;
  return Done{};
}

Result<Done, KernelError> IntelDriver::set_config(Event& event) {
  using namespace msr::evtsel;
  const Attr& attr = event.attr;
  const auto encoding = encoding_of(attr, cpu_);
  if (!encoding.ok()) return Failure(encoding.error());
  u64 config = encoding->config;
  if (!attr.exclude_user) config |= USR;
  if (!attr.exclude_kernel) config |= OS;
  EventData& data = data_of(event);
  data.extra_config = encoding->extra;
  // Counting events too: a counter that wraps has to be folded into the 64-bit count.
  data.config = config | INT;
  if ((config & IN_TXCP) != 0) data.flags |= driver_flag::CHECKPOINTED;
  if ((config & rows::whole_event) == guest_lbr) data.flags |= driver_flag::GUEST_LBR;
  return Done{};
}

/// Of frequency mode. What drives perfmon 1 in Linux makes no guess (core_pmu).
u64 IntelDriver::first_period(const Event& event) const {
  if (!counters_.has_global()) return 1;
  const u64 frequency = event.attr.sample_period;
  const u64 start =
      std::clamp<u64>((start_factor(event.attr) + frequency - 1) / frequency - 1, 1, max_period());
  return static_cast<u64>(limit_period(event, static_cast<i64>(start)));
}

Result<Done, KernelError> IntelDriver::set_period_at_open(Event& event) {
  const Attr& attr = event.attr;
  perf::HardwareEvent& hw = event.hw;
  if (!event.is_sampling()) {
    hw.sample_period = max_period();
  } else if (attr.freq) {
    hw.sample_period = first_period(event);
  } else {
    const u64 least = static_cast<u64>(limit_period(event, static_cast<i64>(attr.sample_period & ~bit(63))));
    if (least > attr.sample_period)
      return refuse_event(EINVAL, fmt::format("sample_period: {} is below this event's minimum of {}",
                                              attr.sample_period, least));
    hw.sample_period = attr.sample_period;
  }
  hw.last_period = hw.sample_period;
  hw.period_left = static_cast<i64>(hw.sample_period);
  constexpr u64 least_checkpointed = 0x7FFF'FFFF;
  if (event.is_sampling() && has_flag(event, driver_flag::CHECKPOINTED) &&
      hw.sample_period < least_checkpointed)
    return refuse_event(EOPNOTSUPP,
                        "sample_period: an aborted transaction could take the overflow back (in_tx_cp)");
  return Done{};
}

/// The records of early formats hold the next instruction's address: the LBR tells the one before it.
Result<Done, KernelError> IntelDriver::fix_address_by_branches(Event& event) const {
  namespace branch = perf::branch;
  Attr& attr = event.attr;
  if (attr.precise_ip < 2 || pebs::has_eventing_ip(cpu_.pebs_format)) return Done{};
  const u64 levels = (attr.exclude_user ? 0 : branch::USER) | (attr.exclude_kernel ? 0 : branch::KERNEL);
  if ((attr.sample_type & perf::sample::BRANCH_STACK) == 0) {
    attr.branch_sample_type = branch::ANY | levels;
    return Done{};
  }
  const bool fits = (attr.branch_sample_type & branch::ANY) != 0 &&
                    (attr.branch_sample_type & (branch::USER | branch::KERNEL)) == levels;
  if (!fits)
    return refuse_event(
        EOPNOTSUPP, "branch_sample_type: precise_ip 2 needs any branch at the event's own privilege levels");
  return Done{};
}

Result<Done, KernelError> IntelDriver::set_up_precise(Event& event) {
  const Attr& attr = event.attr;
  if (attr.precise_ip == 0) return Done{};
  if (auto result = fix_address_by_branches(event); !result.ok()) return result;
  constexpr u64 cycles = 0x003C;
  u64& config = data_of(event).config;
  if ((config & rows::whole_event) == cycles)
    config = (config & ~cycles) | alias_of_cycles(traits_->alias, attr.precise_ip);
  if (auto result = pebs_.init(event); !result.ok()) return result;
  // Event 00 counts on a fixed counter alone: on a general one it would never overflow.
  const bool pseudo_event = (config & msr::evtsel::EVENT) == 0 && !has_flag(event, driver_flag::GUEST_LBR);
  if (pseudo_event && !cpu_.extended_pebs())
    return refuse_event(EINVAL, "precise_ip: PEBS of this CPU does not cover fixed counters");
  return Done{};
}

Result<Done, KernelError> IntelDriver::set_extra_register(Event& event) {
  EventData& data = data_of(event);
  const ExtraRegisterRow* row = find_extra_register(traits_->extra_registers, data.config);
  if (row == nullptr) {
    data.extra_config = 0;
    return Done{};
  }
  if ((data.extra_config & ~row->valid) != 0)
    return refuse_event(EINVAL, fmt::format("config1: {:#x} has bits outside {:#x}, which MSR {:#x} takes",
                                            data.extra_config, row->valid, row->address));
  if (!access_.probe().rdmsr(row->address).ok())
    return refuse_event(ENXIO,
                        fmt::format("config: the event needs MSR {:#x}, which cannot be read", row->address));
  data.extra_register = row->address;
  return Done{};
}

Result<Done, KernelError> IntelDriver::check_load_latency(const Event& event) const {
  constexpr u64 load_latency = 0x01CD;
  const u16 companion = traits_->load_latency_companion;
  const auto is = [](const Event& e, u64 code) {
    return (data_of(e).config & (msr::evtsel::EVENT | msr::evtsel::UMASK)) == code;
  };
  if (companion == 0 || !is(event, load_latency)) return Done{};
  if ((event.attr.sample_type & perf::sample::DATA_SRC) == 0) return Done{};
  const auto& siblings = event.leader->siblings;
  const bool found = !event.is_leader() && (is(*event.leader, companion) ||
                                            std::ranges::any_of(siblings, [&](const Event* sibling) {
                                              return sibling != &event && is(*sibling, companion);
                                            }));
  if (found) return Done{};
  return refuse_event(ENODATA,
                      "group_fd: on this CPU load latency knows its data source only in a group behind "
                      "mem-loads-aux (event 03, umask 82)");
}

/// A dry run on an idle PMU: what passes here can be counted at least while nothing else is.
Result<Done, KernelError> IntelDriver::check_group(Event& event) {
  Placements group;
  bool fits = true;
  const auto collect = [&](Event& member) {
    fits = fits && has_room(group, member);
    group.push_back({.event = &member});
  };
  if (!event.is_leader()) {
    if (is_hardware_event(*event.leader)) collect(*event.leader);
    for (Event* sibling : event.leader->siblings)
      if (sibling != &event && is_hardware_event(*sibling) && sibling->state > perf::EventState::off)
        collect(*sibling);
  }
  collect(event);
  SharedRegisters idle;
  if (fits && schedule(group, 0, idle, ScheduleMode::dry_run)) return Done{};
  return refuse_event(EINVAL, group.size() == 1
                                  ? "config: no counter of this CPU can count the event"
                                  : fmt::format("group_fd: the group's {} events do not fit on the "
                                                "counters together",
                                                group.size()));
}

}  // namespace pmusim::driver
