// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_TRACING_DATA_H
#define PMUSIM_SRC_PERFDATA_TRACING_DATA_H

#include <map>
#include <span>
#include <string>

#include "pmusim/base/types.h"

namespace pmusim::perfdata {

/// Names of tracepoints ("sched:sched_switch") by the number that attr.config has.
using TracepointNames = std::map<u64, std::string>;

/// From the formats that the kernel gave the recorder: feature TRACING_DATA of a file, or the bytes behind a
/// TRACING_DATA record of a stream. As far as the bytes go.
TracepointNames tracepoint_names(std::span<const std::byte> tracing_data);

}  // namespace pmusim::perfdata

#endif
