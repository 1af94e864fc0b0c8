// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_X86_CONSTRAINT_H
#define PMUSIM_SRC_DRIVER_X86_CONSTRAINT_H

#include "pmusim/base/types.h"

namespace pmusim::driver {

/// Counter numbers as the driver uses them: GP n is n, fixed m is 32 + m, and above those the pseudo counters
/// that are views of other registers.
namespace counter {
inline constexpr unsigned FIXED = 32, SLOTS = 35, METRICS = 48, BRANCH_TRACE = 47, GUEST_LBR = 58,
                          SLOT_COUNT = 64;
inline constexpr u64 GP_BITS = low_bits(32), METRIC_BITS = bits(55, 48);
constexpr bool is_fixed(unsigned n) { return n >= FIXED && n < BRANCH_TRACE; }
constexpr bool is_metric(unsigned n) { return n >= METRICS && n < METRICS + 8; }
}  // namespace counter

/// Which counters an event may use, and which events the rule is for.
struct Constraint {
  u64 counters = 0;  ///< empty: the event cannot be scheduled
  u64 code = 0;      ///< compared with the event select under `mask`
  u64 mask = 0;
  u64 size = 0;          ///< codes that follow `code` and match too
  bool pair = false;     ///< takes the next counter too
  bool overlap = false;  ///< crosses other constraints: the scheduler may have to come back to it

  bool matches(u64 config) const { return (config & mask) - code <= size; }
  unsigned weight() const { return static_cast<unsigned>(std::popcount(counters)); }
};

}  // namespace pmusim::driver

#endif
