// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_CORES_COUNTER_EXERCISE_H
#define PMUSIM_SRC_DRIVER_INTEL_CORES_COUNTER_EXERCISE_H

#include "pmusim/base/types.h"

namespace pmusim::driver::cores {

/// What Nehalem's and Westmere's counters must have counted before they count rightly (erratum AAK100, BD73).
inline constexpr u64 nehalem_exercise[] = {0x4300B5, 0x4300D2, 0x4300B1, 0x4300B1};

}  // namespace pmusim::driver::cores

#endif
