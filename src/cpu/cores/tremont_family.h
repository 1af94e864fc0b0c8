// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_TREMONT_FAMILY_H
#define PMUSIM_SRC_CPU_CORES_TREMONT_FAMILY_H

#include "cache_events.h"
#include "event_rows.h"

/// What Tremont and the Atoms after it share.
namespace pmusim::event_rows {

/// Perf's cache events, but the last level's.
inline constexpr std::array tremont_near_cache{
    CacheEvent{l1d, read, access, 0x81D0},   CacheEvent{l1d, write, access, 0x82D0},
    CacheEvent{l1i, read, access, 0x0380},   CacheEvent{l1i, read, miss, 0x0280},
    CacheEvent{dtlb, read, access, 0x81D0},  CacheEvent{dtlb, read, miss, 0x0E08},
    CacheEvent{dtlb, write, access, 0x82D0}, CacheEvent{dtlb, write, miss, 0x0E49},
    CacheEvent{itlb, read, access, 0x00C0},  CacheEvent{itlb, read, miss, 0x0481},
    CacheEvent{bpu, read, access, 0x00C4},   CacheEvent{bpu, read, miss, 0x00C5},
};
inline constexpr auto tremont_cache =
    join(tremont_near_cache, std::array{
                                 CacheEvent{ll, read, access, 0x01B7, 0x10001},
                                 CacheEvent{ll, read, miss, 0x01B7, 0x3F04000001},
                                 CacheEvent{ll, write, access, 0x01B7, 0x10002},
                                 CacheEvent{ll, write, miss, 0x01B7, 0x3F04000002},
                             });

}  // namespace pmusim::event_rows

#endif
