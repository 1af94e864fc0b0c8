// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_STATISTICS_H
#define PMUSIM_DRIVER_STATISTICS_H

// What a driver met while it counted and sampled.

#include <string>
#include <vector>

#include "pmusim/driver/access_faults.h"

namespace pmusim::driver {

/// What happened that no perf event can tell.
struct DriverStatistics {
  u64 interrupts = 0;            ///< PMIs taken
  u64 unhandled_interrupts = 0;  ///< with nothing to handle: "unknown NMI"
  u64 swallowed_interrupts = 0;  ///< the same, but explained by the one before, which handled two
  u64 stuck_interrupts = 0;      ///< status would not clear: the PMU was reset
  /// Overflows that had no sample of their own: the counter went through whole periods between an overflow
  /// and the handling of its interrupt.
  u64 merged_overflows = 0;
  AccessFaults faults;  ///< of the driver's own accesses to registers and memory

  /// With those of another driver.
  DriverStatistics& operator+=(const DriverStatistics& other);
};

/// What makes counts and samples doubtful, a sentence each; empty where all went well.
std::vector<std::string> warnings(const DriverStatistics& statistics);

}  // namespace pmusim::driver

#endif
