// SPDX-License-Identifier: MIT
#include "perf/attr_check.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "perf/attr_registers.h"
#include "perf/refusal.h"
#include "perf/simd_abi.h"

namespace pmusim::perf {

using Outcome = Result<Done, KernelError>;

namespace {

/// How much of an attribute a release knows.
constexpr u32 known_bytes(Kernel kernel) {
  if (simd_abi(kernel) != SimdAbi::none) return sizeof(Attr);
  return has(kernel, change::config4) ? offsetof(Attr, sample_simd_regs_enabled) : offsetof(Attr, config4);
}

bool any_set(std::span<const std::byte> bytes) {
  return std::ranges::any_of(bytes, [](std::byte b) { return b != std::byte{0}; });
}

}  // namespace

Result<Attr, KernelError> copy_attr(std::span<std::byte> user, Kernel kernel) {
  constexpr std::size_t size_at = offsetof(Attr, size), smallest = 64, largest = 4096;
  if (user.size() < size_at + sizeof(u32)) return refuse(EFAULT, "attr: not readable up to its size field");
  u32 size;
  std::memcpy(&size, user.data() + size_at, sizeof size);
  const std::size_t bytes = size == 0 ? smallest : size;

  const u32 known = known_bytes(kernel);
  const auto too_big = [&](const char* why) {
    std::memcpy(user.data() + size_at, &known, sizeof known);
    return refuse(E2BIG, "attr.size {}: {}", size, why);
  };
  if (bytes < smallest || bytes > largest) return too_big("outside 64 to 4096");
  if (bytes > user.size())
    return refuse(EFAULT, "attr: {} bytes long, of which {} are readable", bytes, user.size());
  if (bytes > known && any_set(user.subspan(known, bytes - known)))
    return too_big("bytes behind the newest known field are set");
  Attr attr;
  std::memcpy(&attr, user.data(), std::min(bytes, sizeof attr));
  if (bytes < sizeof attr) std::memset(reinterpret_cast<std::byte*>(&attr) + bytes, 0, sizeof attr - bytes);
  attr.size = static_cast<u32>(bytes);
  return simd_abi(kernel) == SimdAbi::series_v7 ? from_series_v7(attr) : attr;
}

namespace {

/// A1: fields that are newer than the system lie behind what it knows of an attribute.
Outcome check_known(const Attr& attr, const Limits& limits) {
  if (any_set(std::as_bytes(std::span(&attr, 1)).subspan(known_bytes(limits.kernel))))
    return refuse(E2BIG, "{}: Linux {} does not know these fields",
                  attr.config4 != 0 && !has(limits.kernel, change::config4) ? "config4" : "sample_simd_*",
                  name_of(limits.kernel));
  return Done{};
}

Outcome check_reserved(const Attr& attr, SimdAbi simd) {  // A2 to A4
  const u16 reserved_4 = simd == SimdAbi::merged ? attr.reserved_4 : u16{0};
  if (attr.reserved_1 || attr.reserved_2 || attr.aux_action >> 3 || reserved_4)
    return refuse(EINVAL, "attr: reserved bits are set");
  if (attr.sample_type & ~sample::ALL)
    return refuse(EINVAL, "sample_type: unknown bits {:#x}", attr.sample_type & ~sample::ALL);
  if (attr.read_format & ~read_format::ALL)
    return refuse(EINVAL, "read_format: unknown bits {:#x}", attr.read_format & ~read_format::ALL);
  return Done{};
}

Outcome resolve_branches(Attr& attr, const Limits& limits) {  // A5 to A8
  u64& mask = attr.branch_sample_type;
  if ((attr.sample_type & sample::BRANCH_STACK) == 0) {
    mask = 0;
    return Done{};
  }
  if (mask & ~branch::ALL)
    return refuse(EINVAL, "branch_sample_type: unknown bits {:#x}", mask & ~branch::ALL);
  if ((mask & ~branch::PLM_ALL) == 0)
    return refuse(EINVAL, "branch_sample_type: names privilege levels but no kind of branch");
  if ((mask & branch::PLM_ALL) == 0) {
    if (!attr.exclude_kernel) mask |= branch::KERNEL;
    if (!attr.exclude_user) mask |= branch::USER;
    if (!attr.exclude_hv) mask |= branch::HV;
  }
  if ((mask & (branch::KERNEL | branch::HV)) && !limits.may_see_kernel())
    return refuse(EACCES, "branch_sample_type: kernel branches need perf_event_paranoid <= 1 or CAP_PERFMON");
  return Done{};
}

Outcome check_samples(const Attr& attr, const Limits& limits) {  // A10, A13, A14
  if ((attr.sample_type & sample::STACK_USER) &&
      (attr.sample_stack_user >= 65535 || attr.sample_stack_user % 8 != 0))
    return refuse(EINVAL, "sample_stack_user: {} is no multiple of 8 below 65535", attr.sample_stack_user);
  if ((attr.sample_type & sample::REGS_INTR))
    if (auto valid = check_register_mask(attr, RegisterSide::interrupt, limits); !valid) return valid;
  if ((attr.sample_type & sample::CGROUP) && !limits.cgroups)
    return refuse(EINVAL, "sample_type: CGROUP, but this system has no cgroups");
  if ((attr.sample_type & sample::WEIGHT) && (attr.sample_type & sample::WEIGHT_STRUCT))
    return refuse(EINVAL, "sample_type: WEIGHT and WEIGHT_STRUCT exclude each other");
  return Done{};
}

Outcome check_flags(const Attr& attr) {  // A15 to A17
  if (attr.inherit_thread && !attr.inherit) return refuse(EINVAL, "inherit_thread: needs inherit");
  if (attr.remove_on_exec && attr.enable_on_exec)
    return refuse(EINVAL, "remove_on_exec: excludes enable_on_exec");
  if (attr.sigtrap && !attr.remove_on_exec) return refuse(EINVAL, "sigtrap: needs remove_on_exec");
  return Done{};
}

/// Software events whose occurrences are the kernel's own.
bool counts_in_kernel(const Attr& attr) {
  if (attr.type != static_cast<u32>(EventType::software)) return false;
  constexpr std::array ids{SoftwareId::cpu_clock, SoftwareId::task_clock, SoftwareId::context_switches,
                           SoftwareId::cpu_migrations, SoftwareId::cgroup_switches};
  return std::ranges::find(ids, static_cast<SoftwareId>(attr.config)) != ids.end();
}

}  // namespace

Result<Attr, KernelError> check_attr(Attr attr, const Limits& limits) {
  if (auto valid = check_known(attr, limits); !valid) return Failure(valid.error());
  if (limits.simd() == SimdAbi::series_v7) attr = with_shared_field(attr);
  if (auto valid = check_reserved(attr, limits.simd()); !valid) return Failure(valid.error());
  if (auto valid = resolve_branches(attr, limits); !valid) return Failure(valid.error());
  if (attr.sample_type & sample::REGS_USER)  // A9
    if (auto valid = check_register_mask(attr, RegisterSide::user, limits); !valid)
      return Failure(valid.error());
  if (auto valid = check_samples(attr, limits); !valid) return Failure(valid.error());
  if (attr.sample_max_stack == 0) attr.sample_max_stack = limits.max_stack;  // A11
  if (auto valid = check_flags(attr); !valid) return Failure(valid.error());
  return attr;
}

Outcome check_rights(const Attr& attr, i32 pid, i32 cpu, u64 flags, const Limits& limits) {
  const bool hardened = has(limits.kernel, change::kernel_chains_need_rights);
  const bool kernel_chain = hardened && !limits.kernel_chains && (attr.sample_type & sample::CALLCHAIN) &&
                            !attr.exclude_callchain_kernel;
  const bool kernel_mode = !attr.exclude_kernel && !(limits.cpus && counts_in_kernel(attr));
  const bool text_poke = hardened && attr.text_poke;
  if ((kernel_mode || text_poke || kernel_chain) && !limits.may_see_kernel())  // B5
    return refuse(EACCES, "{}: needs perf_event_paranoid <= 1 or CAP_PERFMON",
                  kernel_mode ? "exclude_kernel is 0"
                  : text_poke ? "text_poke"
                              : "kernel call chains");
  if (attr.namespaces && !limits.perfmon_capable)
    return refuse(EACCES, "namespaces: needs CAP_PERFMON");      // B6
  if (attr.freq && attr.sample_period > limits.max_sample_rate)  // B7
    return refuse(EINVAL, "sample_freq: {} is above perf_event_max_sample_rate {}", attr.sample_period,
                  limits.max_sample_rate);
  if (!attr.freq && attr.sample_period >> 63) return refuse(EINVAL, "sample_period: bit 63 is set");
  if ((attr.sample_type & sample::PHYS_ADDR) && !limits.may_see_kernel() && !limits.physical_addresses)  // B8
    return refuse(EACCES, "sample_type: PHYS_ADDR needs perf_event_paranoid <= 1 or CAP_PERFMON");
  if ((flags & open_flag::PID_CGROUP) && (pid == -1 || cpu == -1))  // B10
    return refuse(EINVAL, "PID_CGROUP: needs a cgroup and a CPU");
  return Done{};
}

Outcome check_capabilities(const Attr& attr, const PmuCapabilities& pmu, const Limits& limits) {
  constexpr u32 start_paused = 1, pause = 2, resume = 4;
  if (wants_simd_registers(attr, limits.simd()) && !pmu.simd_registers)  // C6
    return refuse(EOPNOTSUPP, "sample_simd_regs_enabled: PMU {} cannot sample SIMD registers", pmu.name);
  if (wants_extended_registers(attr, limits.simd()) && !pmu.extended_registers)  // C7
    return refuse(EOPNOTSUPP, "sample_regs: PMU {} samples no registers above bit 31", pmu.name);
  if (attr.aux_output && (!pmu.auxiliary_output || (attr.aux_action & (pause | resume))))  // C10
    return refuse(EOPNOTSUPP, "aux_output: PMU {} cannot do it", pmu.name);
  if ((attr.aux_action & pause) && (attr.aux_action & resume))  // C11
    return refuse(EINVAL, "aux_action: pause and resume at once");
  if (attr.aux_action & start_paused)  // C12
    return refuse(EOPNOTSUPP, "aux_action: PMU {} cannot start paused", pmu.name);
  return Done{};
}

Outcome check_stack_depth(const Attr& attr, const Limits& limits) {
  if ((attr.sample_type & sample::CALLCHAIN) && attr.sample_max_stack > limits.max_stack)
    return refuse(EOVERFLOW, "sample_max_stack: {} is above perf_event_max_stack {}", attr.sample_max_stack,
                  limits.max_stack);
  return Done{};
}

Outcome check_clock(const Attr& attr, bool interrupts_are_nmis) {
  if (!attr.use_clockid) return Done{};
  switch (attr.clockid) {
    case 1:  // MONOTONIC
    case 4:  // MONOTONIC_RAW
      return Done{};
    case 0:   // REALTIME
    case 7:   // BOOTTIME
    case 11:  // TAI
      if (!interrupts_are_nmis) return Done{};
      return refuse(EINVAL, "clockid: clock {} cannot be read in an NMI", attr.clockid);
    default:
      return refuse(EINVAL, "clockid: {} is no clock for samples", attr.clockid);
  }
}

Outcome check_aux(const Attr& attr) {
  if (attr.aux_output || attr.aux_action != 0 || attr.aux_sample_size != 0)
    return refuse(EINVAL, "aux_output, aux_action, aux_sample_size: the group leader has no AUX area");
  return Done{};
}

}  // namespace pmusim::perf
