// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_CORES_MEMORY_EVENTS_H
#define PMUSIM_SRC_DRIVER_INTEL_CORES_MEMORY_EVENTS_H

#include "driver/intel/cores/core_traits.h"
#include "driver/intel/debug_store/pebs.h"

/// Events whose records say something of a memory access (Linux: PERF_X86_EVENT_PEBS_LDLAT).
namespace pmusim::driver::rows {

inline constexpr u16 selector = 0xFFFF, any_umask = 0x00FF;

inline constexpr MemoryEvent nehalem_memory[] = {{0x100B, selector, pebs_flag::LOAD_LATENCY}};
inline constexpr MemoryEvent sandy_bridge_memory[] = {{0x01CD, selector, pebs_flag::LOAD_LATENCY},
                                                      {0x02CD, selector, pebs_flag::PRECISE_STORE}};
/// Umasks of event D0 that end in 2 are stores.
inline constexpr MemoryEvent haswell_memory[] = {
    {0x01CD, selector, pebs_flag::LOAD_LATENCY}, {0x02D0, 0x0FFF, pebs_flag::MEMORY_STORE},
    {0xD0, any_umask, pebs_flag::MEMORY_LOAD},   {0xD1, any_umask, pebs_flag::MEMORY_LOAD},
    {0xD2, any_umask, pebs_flag::MEMORY_LOAD},   {0xD3, any_umask, pebs_flag::MEMORY_LOAD},
    {0xD4, any_umask, pebs_flag::MEMORY_LOAD}};
inline constexpr MemoryEvent golden_cove_memory[] = {
    {0x01CD, selector, pebs_flag::LOAD_LATENCY}, {0x02CD, selector, pebs_flag::STORE_LATENCY},
    {0x02D0, 0x0FFF, pebs_flag::MEMORY_STORE},   {0xD0, any_umask, pebs_flag::MEMORY_LOAD},
    {0xD1, any_umask, pebs_flag::MEMORY_LOAD},   {0xD2, any_umask, pebs_flag::MEMORY_LOAD},
    {0xD3, any_umask, pebs_flag::MEMORY_LOAD},   {0xD4, any_umask, pebs_flag::MEMORY_LOAD}};
inline constexpr MemoryEvent lion_cove_memory[] = {{0x01CD, selector, pebs_flag::LOAD_LATENCY},
                                                   {0x02CD, selector, pebs_flag::STORE_LATENCY}};
inline constexpr MemoryEvent gracemont_memory[] = {{0x05D0, selector, pebs_flag::LOAD_LATENCY},
                                                   {0x06D0, selector, pebs_flag::STORE_LATENCY}};

}  // namespace pmusim::driver::rows

#endif
