// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_CLOCKS_H
#define PMUSIM_CPU_CLOCKS_H

#include "pmusim/cpu/model.h"

namespace pmusim {

/// A clock at a constant ratio to the core clock, both starting at 0.
struct Clock {
  u64 numerator = 1, denominator = 1;

  /// Ticks until `cycle` (whole ones).
  constexpr u64 ticks(u64 cycle) const {
    if (numerator == denominator) return cycle;
    return cycle / denominator * numerator + cycle % denominator * numerator / denominator;
  }
  /// The first cycle in which `ticks` (at least 1) have passed.
  constexpr u64 cycle_of(u64 tick) const {
    if (numerator == denominator) return tick;
    return tick / numerator * denominator + (tick % numerator * denominator + numerator - 1) / numerator;
  }
};

/// The time-stamp counter's clock; TSC ticks per core cycle.
constexpr Clock tsc_clock(const CoreParameters& core) {
  return {core.tsc_per_core_cycle_numerator, core.tsc_per_core_cycle_denominator};
}

/// The bus (crystal) clock; ticks per core cycle.
Clock bus_clock(const CoreParameters& core);

}  // namespace pmusim

#endif
