// SPDX-License-Identifier: MIT
#include "cpu/clocks.h"

#include <numeric>

namespace pmusim {

Clock bus_clock(const CoreParameters& core) {
  const u64 bus = std::gcd(core.bus_hz, core.tsc_hz);
  const u64 numerator = core.bus_hz / bus * core.tsc_per_core_cycle_numerator;
  const u64 denominator = core.tsc_hz / bus * core.tsc_per_core_cycle_denominator;
  const u64 common = std::gcd(numerator, denominator);
  return {numerator / common, denominator / common};
}

}  // namespace pmusim
