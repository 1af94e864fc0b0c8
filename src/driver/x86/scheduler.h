// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_X86_SCHEDULER_H
#define PMUSIM_SRC_DRIVER_X86_SCHEDULER_H

#include <span>

#include "driver/x86/constraint.h"

namespace pmusim::driver {

/// The most events that can be scheduled together.
inline constexpr std::size_t max_scheduled_events = 64;

/// Gives every event a counter, most constrained first: by weight, then by position. Fixed counters are tried
/// before general ones.
///
/// It is greedy: sets of constraints that cross ({1,2}, {0,1}, {0,1} on two of three counters) may fail in
/// one order and succeed in another. A constraint with `overlap` is remembered (two at most) and moved to its
/// next counter when a later event finds none; each such step uses up one unit of `gp_limit` for good.
///
/// `gp_limit` is the number of events that general counters may be used for. Writes `counters[i]` for every
/// event and returns true, or returns false with `counters` unspecified. `constraints.size()` is at most
/// `max_scheduled_events` and equals `counters.size()`.
[[nodiscard]] bool assign_counters(std::span<const Constraint> constraints, unsigned gp_limit,
                                   std::span<int> counters);

}  // namespace pmusim::driver

#endif
