// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PERF_CPU_MODE_H
#define PMUSIM_PERF_CPU_MODE_H

#include <optional>

#include "pmusim/perf/abi.h"

namespace pmusim::perf {

/// What a CPU ran at a record: PERF_RECORD_MISC_CPUMODE. The values are those of the record.
enum class CpuMode : u8 {
  unknown = 0,
  kernel = 1,
  user = 2,
  hypervisor = 3,
  guest_kernel = 4,
  guest_user = 5
};

inline CpuMode cpu_mode(u16 misc) {
  const u16 mode = misc & misc::CPUMODE_MASK;
  return mode <= 5 ? static_cast<CpuMode>(mode) : CpuMode::unknown;
}

/// Values of a call chain from here up are marks (PERF_CONTEXT_*), not addresses.
inline constexpr u64 first_context_mark = ~u64{4094};

/// The mode of the addresses behind a mark; nothing for marks that say none.
inline std::optional<CpuMode> marked_mode(u64 mark) {
  constexpr u64 hypervisor = ~u64{31}, kernel = ~u64{127}, user = ~u64{511}, guest = ~u64{2047},
                guest_kernel = ~u64{2175}, guest_user = ~u64{2559};
  switch (mark) {
    case hypervisor:
      return CpuMode::hypervisor;
    case kernel:
      return CpuMode::kernel;
    case user:
      return CpuMode::user;
    case guest:
    case guest_kernel:
      return CpuMode::guest_kernel;
    case guest_user:
      return CpuMode::guest_user;
    default:
      return std::nullopt;
  }
}

}  // namespace pmusim::perf

#endif
