// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_NAMED_EVENTS_H
#define PMUSIM_SRC_CPU_CORES_NAMED_EVENTS_H

#include <array>

#include "cpu/core_facts.h"

/// Where several cores have what memory sampling and topdown analysis ask for by name.
namespace pmusim::event_rows {

inline constexpr u64 default_threshold = 3;  // of load latency, in cycles

inline constexpr std::array nehalem_memory{NamedEncoding{"mem-loads", 0x100B, default_threshold}};
inline constexpr std::array sandy_bridge_memory{NamedEncoding{"mem-loads", 0x01CD, default_threshold},
                                                NamedEncoding{"mem-stores", 0x02CD}};
inline constexpr std::array haswell_memory{NamedEncoding{"mem-loads", 0x01CD, default_threshold},
                                           NamedEncoding{"mem-stores", 0x82D0}};
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
