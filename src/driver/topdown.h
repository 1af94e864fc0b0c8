#ifndef PMUSIM_SRC_DRIVER_TOPDOWN_H
#define PMUSIM_SRC_DRIVER_TOPDOWN_H

#include "pmusim/base/error.h"
#include "pmusim/driver/enumeration.h"
#include "pmusim/perf/event.h"

namespace pmusim::driver {

/// Slots and the topdown metrics, which are shares of it: metrics need slots as their leader, and neither may
/// sample nor carry filters. Marks the events. Errors: EINVAL.
Result<Done, KernelError> check_topdown(perf::Event& event, const Enumeration& cpu);

bool is_slots(u64 config);
bool is_metric(u64 config);
/// Of slots that a metric counts: its byte of PERF_METRICS in 255ths.
u64 metric_slots(u64 slots, u64 metrics, unsigned metric);

}  // namespace pmusim::driver

#endif
