// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SCHEDULING_ACR_GROUP_H
#define PMUSIM_SRC_DRIVER_INTEL_SCHEDULING_ACR_GROUP_H

#include "driver/intel/enumeration.h"
#include "pmusim/base/types.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// Members of a group in which any event names reload causes (attr.config2, `acr_mask`).
bool in_acr_group(const perf::Event& event);

/// Checks a new event that names reload causes or joins a group that does, marks the group's leader and
/// narrows the members' counters to those that can reload and cause reloads. Bit k of config2 names the k-th
/// event of the group, the leader being 0: that event's overflow reloads this one. Errors: EINVAL.
Result<Done, KernelError> check_acr_group(perf::Event& event, const Enumeration& cpu, u64 max_period);

}  // namespace pmusim::driver

#endif
