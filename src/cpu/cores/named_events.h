// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_NAMED_EVENTS_H
#define PMUSIM_SRC_CPU_CORES_NAMED_EVENTS_H

#include <array>

#include "cpu/core_facts.h"
#include "event_rows.h"

/// Where several cores have what memory sampling and topdown analysis ask for by name.
namespace pmusim::event_rows {

inline constexpr u64 default_threshold = 3;  // of load latency, in cycles

inline constexpr std::array nehalem_memory{NamedEncoding{"mem-loads", 0x100B, default_threshold}};
inline constexpr std::array sandy_bridge_memory{NamedEncoding{"mem-loads", 0x01CD, default_threshold},
                                                NamedEncoding{"mem-stores", 0x02CD}};
inline constexpr std::array haswell_memory{NamedEncoding{"mem-loads", 0x01CD, default_threshold},
                                           NamedEncoding{"mem-stores", 0x82D0}};
/// Where slots went, before there was PERF_METRICS (Linux: snb_events_attrs). Without the sibling thread.
inline constexpr std::array sandy_bridge_slots{
    NamedEncoding{"topdown-slots-issued", 0x010E}, NamedEncoding{"topdown-slots-retired", 0x02C2},
    NamedEncoding{"topdown-fetch-bubbles", 0x019C}, NamedEncoding{"topdown-total-slots", 0x003C, 0, 4},
    NamedEncoding{"topdown-recovery-bubbles", 0x0100'030D, 0, 4}};
inline constexpr std::array silvermont_slots{
    // Linux: slm_events_attrs
    NamedEncoding{"topdown-total-slots", 0x003C, 0, 2}, NamedEncoding{"topdown-fetch-bubbles", 0x50CA, 0, 2},
    NamedEncoding{"topdown-slots-issued", 0x10C2}, NamedEncoding{"topdown-slots-retired", 0x10C2}};
inline constexpr std::array goldmont_slots{
    // Linux: glm_events_attrs
    NamedEncoding{"topdown-total-slots", 0x003C, 0, 3}, NamedEncoding{"topdown-fetch-bubbles", 0x009C},
    NamedEncoding{"topdown-recovery-bubbles", 0x02CA}, NamedEncoding{"topdown-slots-issued", 0x000E},
    NamedEncoding{"topdown-slots-retired", 0x00C2}};

inline constexpr auto sandy_bridge_names = join(sandy_bridge_memory, sandy_bridge_slots);
inline constexpr auto haswell_names = join(haswell_memory, sandy_bridge_slots);
inline constexpr auto golden_cove_memory_names = sandy_bridge_memory;
inline constexpr std::array gracemont_memory_names{NamedEncoding{"mem-loads", 0x05D0, default_threshold},
                                                   NamedEncoding{"mem-stores", 0x06D0}};
inline constexpr std::array skymont_names{NamedEncoding{"mem-loads", 0x05D0, default_threshold},
                                          NamedEncoding{"mem-stores", 0x06D0},
                                          NamedEncoding{"topdown-fe-bound", 0x019C},
                                          NamedEncoding{"topdown-be-bound", 0x02A4},
                                          NamedEncoding{"topdown-bad-spec", 0x0073},
                                          NamedEncoding{"topdown-retiring", 0x02C2}};

}  // namespace pmusim::event_rows

#endif
