// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_COUNTERS_TOPDOWN_H
#define PMUSIM_SRC_DRIVER_INTEL_COUNTERS_TOPDOWN_H

#include "driver/intel/scheduling/constraint_book.h"
#include "driver/x86/topdown_reading.h"
#include "pmusim/base/types.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// Slots and the topdown metrics, which are shares of it: metrics need slots as their leader, and neither may
/// sample nor carry filters. Marks the events. The second half of the metrics is not on every part: where
/// `constraints` do not know one, it is an event like any other. Errors: EINVAL.
Result<Done, KernelError> check_topdown(perf::Event& event, const Enumeration& cpu,
                                        const ConstraintBook& constraints);

bool is_slots(u64 config);
/// Whether a metric has been opened with this event as its leader.
bool has_metrics(const perf::Event& slots);
bool is_metric(u64 config);
/// What an event that has its counter counted between two readings of it. A share is rounded, and can become
/// less: then it counted nothing.
u64 topdown_increase(const perf::Event& event, TopdownReading before, TopdownReading now);

}  // namespace pmusim::driver

#endif
