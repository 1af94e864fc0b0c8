// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_THROTTLE_H
#define PMUSIM_SRC_PERF_THROTTLE_H

#include "pmusim/perf/driver.h"

namespace pmusim::perf {

/// HardwareEvent::interrupts of an event that was stopped because it interrupted too often in one tick.
inline constexpr u64 throttled = ~u64{0};

/// Who is throttled when one event is.
enum class ThrottleScope : u8 { event, group };

/// `apply(member)` to the event, or to the active members of its group, leader first.
template <class Apply>
void for_throttled(Event& event, ThrottleScope scope, Apply apply) {
  if (scope == ThrottleScope::event) return apply(event);
  if (event.leader->state == EventState::active) apply(*event.leader);
  for (Event* sibling : event.leader->siblings)
    if (sibling->state == EventState::active) apply(*sibling);
}

}  // namespace pmusim::perf

#endif
