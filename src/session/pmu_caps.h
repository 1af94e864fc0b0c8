// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_PMU_CAPS_H
#define PMUSIM_SRC_SESSION_PMU_CAPS_H

#include <string>
#include <utility>
#include <vector>

#include "pmusim/cpu/model.h"
#include "pmusim/perf/driver.h"

namespace pmusim {

/// The files of a PMU's `caps` in sysfs, which perf.data has too: name and text.
std::vector<std::pair<std::string, std::string>> pmu_caps(const perf::PmuCapabilities& pmu,
                                                          const CpuModel& model);

}  // namespace pmusim

#endif
