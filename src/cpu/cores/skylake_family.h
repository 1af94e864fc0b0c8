// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_SKYLAKE_FAMILY_H
#define PMUSIM_SRC_CPU_CORES_SKYLAKE_FAMILY_H

#include "cache_events.h"
#include "core_events.h"

/// What Skylake shares with its server and, in caches, with Ice Lake.
namespace pmusim::event_rows {

inline constexpr std::array skylake_own{
    row("BR_MISP_RETIRED.NEAR_CALL", 0xC5, 0x02, on(mispredicted_indirect_call)),
    begins(row("INT_MISC.RECOVERY_STALLS_COUNT", 0x0D, 0x01, sum(Q::recovery_cycles))),
    // What topdown-recovery-bubbles of Linux programs; the name is that of the same encoding on Ice Lake.
    row("INT_MISC.ALL_RECOVERY_CYCLES", 0x0D, 0x03, sum(Q::recovery_cycles)),
};

inline constexpr auto skylake_events = join(
    fixed_three, haswell_clocks, precise_distribution, architectural_cache, sandy_bridge_branches,
    mispredicted_returns, skylake_memory_instructions, skylake_load_sources, local_memory_loads,
    load_latency_samples, front_end_retired(0x01), haswell_l2, skylake_l2_hits, l1d_replacement,
    haswell_prefetches, skylake_l2_lines, sandy_bridge_load_blocks, sandy_bridge_off_core_requests,
    skylake_off_core_requests, skylake_snoops, skylake_walks, haswell_small_page_walks, skylake_pauses,
    precise_branches, skylake_tlb, skylake_icache, resteers, skylake_machine_clears, skylake_recovery,
    skylake_stalls, sandy_bridge_uops, slots_not_delivered, sandy_bridge_lbr_inserts, haswell_transactions,
    broadwell_fp_arithmetic, skylake_own, off_core(0xB7, {0x10001, 0x3FFFC00001, 0x10002, 0x3FFFC00002}),
    architectural_names, architectural_mispredicts);

inline constexpr std::array skylake_cache{
    CacheEvent{l1d, read, access, 0x81D0},
    CacheEvent{l1d, read, miss, 0x0151},
    CacheEvent{l1d, write, access, 0x82D0},
    CacheEvent{l1i, read, miss, 0x0283},
    CacheEvent{ll, read, access, 0x01B7, 0x3FC0010001},
    CacheEvent{ll, read, miss, 0x01B7, 0x3FFC020001},
    CacheEvent{ll, write, access, 0x01B7, 0x3FC0010002},
    CacheEvent{ll, write, miss, 0x01B7, 0x3FFC020002},
    CacheEvent{dtlb, read, access, 0x81D0},
    CacheEvent{dtlb, read, miss, 0x0E08},
    CacheEvent{dtlb, write, access, 0x82D0},
    CacheEvent{dtlb, write, miss, 0x0E49},
    CacheEvent{itlb, read, access, 0x2085},
    CacheEvent{itlb, read, miss, 0x0E85},
    CacheEvent{bpu, read, access, 0x00C4},
    CacheEvent{bpu, read, miss, 0x00C5},
};

}  // namespace pmusim::event_rows

#endif
