#ifndef PMUSIM_SRC_PERF_THROTTLE_H
#define PMUSIM_SRC_PERF_THROTTLE_H

#include "pmusim/base/types.h"

namespace pmusim::perf {

/// HardwareEvent::interrupts of an event that was stopped because it interrupted too often in one tick.
inline constexpr u64 throttled = ~u64{0};

}  // namespace pmusim::perf

#endif
