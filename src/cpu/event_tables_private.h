#ifndef PMUSIM_SRC_CPU_EVENT_TABLES_PRIVATE_H
#define PMUSIM_SRC_CPU_EVENT_TABLES_PRIVATE_H

#include <span>

#include "pmusim/cpu/model.h"

namespace pmusim::event_rows {

/// What every part has: fixed counters and architectural events.
std::span<const EventDefinition> architectural_event_table();

std::span<const EventDefinition> core2_events();
std::span<const EventDefinition> nehalem_events();
std::span<const EventDefinition> westmere_events();
std::span<const EventDefinition> sandy_bridge_events();
std::span<const EventDefinition> ivy_bridge_events();
std::span<const EventDefinition> haswell_events();
std::span<const EventDefinition> broadwell_events();
std::span<const EventDefinition> skylake_events();
std::span<const EventDefinition> skylake_x_events();
std::span<const EventDefinition> ice_lake_events();
std::span<const EventDefinition> golden_cove_events();
std::span<const EventDefinition> redwood_cove_events();
std::span<const EventDefinition> lion_cove_events();
std::span<const EventDefinition> panther_cove_events();
std::span<const EventDefinition> bonnell_events();
std::span<const EventDefinition> silvermont_events();
std::span<const EventDefinition> knights_landing_events();
std::span<const EventDefinition> goldmont_events();
std::span<const EventDefinition> goldmont_plus_events();
std::span<const EventDefinition> tremont_events();
std::span<const EventDefinition> gracemont_events();
std::span<const EventDefinition> crestmont_events();
std::span<const EventDefinition> skymont_events();
std::span<const EventDefinition> darkmont_events();
std::span<const EventDefinition> arctic_wolf_events();

}  // namespace pmusim::event_rows

#endif
