// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MSR_COUNTED_EVENT_H
#define PMUSIM_MSR_COUNTED_EVENT_H

#include <optional>

#include "pmusim/cpu/model.h"

/// What a counter was programmed to count, as Pmu::counted_events() says it.
namespace pmusim {

/// The event of a counter that runs.
struct CountedEvent {
  unsigned counter = 0;  ///< GP n is n, fixed m is 32 + m
  u64 event_select = 0;  ///< the register; 0 of a fixed counter
  u64 extra = 0;         ///< what the register holds that narrows the event down (OFFCORE_RSP, PEBS_FRONTEND)
  std::optional<EventDefinition> event;  ///< nothing: the model has no such event, and the counter stands
};

}  // namespace pmusim

#endif
