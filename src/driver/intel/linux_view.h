// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_LINUX_VIEW_H
#define PMUSIM_SRC_DRIVER_INTEL_LINUX_VIEW_H

#include "driver/intel/enumeration.h"
#include "pmusim/perf/abi.h"

namespace pmusim::driver {

/// The CPU without what a Linux release has no code for.
Enumeration as_seen_by(perf::Kernel kernel, Enumeration cpu);

}  // namespace pmusim::driver

#endif
