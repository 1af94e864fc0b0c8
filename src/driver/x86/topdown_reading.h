// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_X86_TOPDOWN_READING_H
#define PMUSIM_SRC_DRIVER_X86_TOPDOWN_READING_H

#include "pmusim/base/types.h"

namespace pmusim::driver {

/// The slots counter and PERF_METRICS, which count from when both were cleared.
struct TopdownReading {
  u64 slots = 0, metrics = 0;
};

}  // namespace pmusim::driver

#endif
