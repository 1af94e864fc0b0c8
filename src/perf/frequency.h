// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_FREQUENCY_H
#define PMUSIM_SRC_PERF_FREQUENCY_H

#include "pmusim/base/types.h"

namespace pmusim::perf {

/// The period that samples `frequency` times per second what occurred `count` times in `ns` nanoseconds;
/// within 64 bits it loses the low bits of the larger operands first, as Linux does. 0 for what is rarer.
u64 target_period(u64 count, u64 ns, u64 frequency);

/// One step of the control loop: an eighth of the way from `period` to `target`. At least 1.
u64 next_period(u64 period, u64 target);

}  // namespace pmusim::perf

#endif
