// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_PERF_TIME_H
#define PMUSIM_SRC_SESSION_PERF_TIME_H

#include "cpu/clocks.h"
#include "pmusim/perf/driver.h"

namespace pmusim {

/// perf time in the control page's form: ns = tsc * mult >> shift.
inline perf::TscToNs clock_of(const CoreParameters& core) {
  constexpr u64 ns_per_second = 1'000'000'000;
  constexpr u16 shift = 31;
  return {.mult = static_cast<u32>((ns_per_second << shift) / core.tsc_hz), .shift = shift};
}

/// The first core cycle in which perf time is `ns` or later. The TSC starts at 0, as perf time does.
inline u64 first_cycle_at(u64 ns, const perf::TscToNs& time, const Clock& tsc) {
  __extension__ using u128 = unsigned __int128;
  const u128 ticks = ((static_cast<u128>(ns - time.zero) << time.shift) + time.mult - 1) / time.mult;
  return tsc.cycle_of(static_cast<u64>(ticks));
}

}  // namespace pmusim

#endif
