// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_NAMES_H
#define PMUSIM_SRC_EVENTS_NAMES_H

#include <optional>
#include <string_view>
#include <vector>

#include "cpu/generic_events.h"
#include "pmusim/cpu/model.h"
#include "pmusim/perf/abi.h"

namespace pmusim::events {

/// What a name stands for in perf_event_attr.
struct NamedEvent {
  perf::EventType type = perf::EventType::hardware;
  u64 config = 0, config1 = 0;
  unsigned scale = 1;  ///< counts are to be multiplied with it (NamedEncoding)
};

/// "cycles", "branch-misses": hardware events by number.
std::optional<NamedEvent> find_hardware_event(std::string_view name);
/// "task-clock", "cs".
std::optional<NamedEvent> find_software_event(std::string_view name);
/// "L1-dcache-load-misses", "LLC-loads"; the parts in perf's many spellings. Combinations that make no sense
/// (iTLB-stores) are no names.
std::optional<NamedEvent> find_cache_event(std::string_view name);
/// Names that a PMU driver publishes beside its formats: mem-loads, mem-stores, topdown-*, slots, tx-*.
std::optional<NamedEvent> find_driver_event(const CpuModel& model, std::string_view name);

/// perf's own names that the model may have: the above in their usual spelling.
std::vector<std::string_view> perf_event_names(const CpuModel& model);

/// Those and the names of the model's table, for suggestions.
std::vector<std::string_view> known_names(const CpuModel& model);

}  // namespace pmusim::events

#endif
