// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_PERF_TIME_H
#define PMUSIM_SRC_SESSION_PERF_TIME_H

#include "cpu/clocks.h"
#include "pmusim/perf/driver.h"

namespace pmusim {

/// The first core cycle in which perf time is `ns` or later. The TSC starts at 0, as perf time does.
inline u64 first_cycle_at(u64 ns, const perf::TscToNs& time, const Clock& tsc) {
  __extension__ using u128 = unsigned __int128;
  const u128 ticks = ((static_cast<u128>(ns - time.zero) << time.shift) + time.mult - 1) / time.mult;
  return tsc.cycle_of(static_cast<u64>(ticks));
}

}  // namespace pmusim

#endif
