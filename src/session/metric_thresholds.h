// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_METRIC_THRESHOLDS_H
#define PMUSIM_SRC_SESSION_METRIC_THRESHOLDS_H

#include "session/metrics.h"

namespace pmusim {

/// Whether a node of the tree with this value is worth a look: above its threshold (the method's, as perf has
/// it), and so are its parents, as far as they were counted. Nothing of metrics without a threshold.
std::optional<bool> stands_out(const Metric& metric, double value, const std::vector<EventTotal>& totals,
                               const CpuModel& model);

}  // namespace pmusim

#endif
