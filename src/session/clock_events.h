// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_CLOCK_EVENTS_H
#define PMUSIM_SRC_SESSION_CLOCK_EVENTS_H

#include "pmusim/perf/abi.h"

namespace pmusim {

/// cpu-clock and task-clock, which count ns.
inline bool is_clock(const perf::Attr& attr) {
  return attr.type == static_cast<u32>(perf::EventType::software) &&
         attr.config <= static_cast<u64>(perf::SoftwareId::task_clock);
}

}  // namespace pmusim

#endif
