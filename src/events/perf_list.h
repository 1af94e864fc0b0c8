// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_PERF_LIST_H
#define PMUSIM_SRC_EVENTS_PERF_LIST_H

#include <string>
#include <vector>

#include "pmusim/cpu/model.h"

namespace pmusim::events {

/// What `perf list` calls an event whose name is perf's own.
enum class PerfKind : u8 {
  hardware,  ///< PERF_TYPE_HARDWARE
  software,  ///< PERF_TYPE_SOFTWARE
  cache,     ///< PERF_TYPE_HW_CACHE
  driver,    ///< published by the PMU's driver: mem-loads, topdown-*
};

/// An event with all names that it has: {"branch-instructions", "branches"}.
struct PerfEvent {
  PerfKind kind = PerfKind::hardware;
  std::vector<std::string> names;
};

/// The events with names of perf's that a replay on the model can have, by kind.
std::vector<PerfEvent> perf_events(const CpuModel& model);

}  // namespace pmusim::events

#endif
