// SPDX-License-Identifier: MIT
#include "perf/frequency.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pmusim::perf {

namespace {

unsigned width(u64 value) { return static_cast<unsigned>(std::bit_width(value)); }

/// Halves the wider factor until the product fits in 64 bits together with as many halvings of the other
/// side.
void halve_wider(u64& a, u64& b) { (a > b ? a : b) >>= 1; }

}  // namespace

u64 target_period(u64 count, u64 ns, u64 frequency) {
  constexpr u64 ns_per_second = 1'000'000'000;
  u64 factor = ns_per_second;
  while (width(count) + width(factor) > 64 && width(ns) + width(frequency) > 64) {
    halve_wider(ns, frequency);
    halve_wider(count, factor);
  }
  if (width(ns) + width(frequency) > 64) {
    u64 dividend = count * factor;
    while (width(ns) + width(frequency) > 64) {
      halve_wider(ns, frequency);
      dividend >>= 1;
    }
    return dividend / std::max<u64>(1, ns * frequency);
  }
  u64 divisor = ns * frequency;
  while (width(count) + width(factor) > 64) {
    halve_wider(count, factor);
    divisor >>= 1;
  }
  return divisor == 0 ? count * factor : count * factor / divisor;
}

u64 next_period(u64 period, u64 target) {
  i64 delta = static_cast<i64>(target) - static_cast<i64>(period);
  delta = (delta + (delta >= 0 ? 7 : -7)) / 8;
  const i64 next = static_cast<i64>(period) + delta;
  return next <= 0 ? 1 : static_cast<u64>(next);
}

}  // namespace pmusim::perf
