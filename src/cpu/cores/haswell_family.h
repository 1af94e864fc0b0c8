// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_HASWELL_FAMILY_H
#define PMUSIM_SRC_CPU_CORES_HASWELL_FAMILY_H

#include "cache_events.h"
#include "core_events.h"

/// What Haswell and Broadwell share.
namespace pmusim::event_rows {

inline constexpr std::array haswell_own{
    row("INST_RETIRED.X87", 0xC0, 0x02, on(x87)),
    row("MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_MISS", 0xD2, 0x01, on(load_snoop_miss)),
    row("MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HIT", 0xD2, 0x02, on_any({load_snoop_hit, load_snoop_forward})),
    row("MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HITM", 0xD2, 0x04, on(load_snoop_modified)),
    row("MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_NONE", 0xD2, 0x08, on_unshared_l3_hit()),
    row("MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_HITM", 0xD3, 0x10, on(load_remote_modified)),
    row("MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_FWD", 0xD3, 0x20, on(load_remote_forward)),
    row("MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM", 0xD3, 0x01, on(load_dram)),
    row("DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK", 0x08, 0x01, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x08, 0x0E, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x08, 0x60, on_but_not(load_dtlb_miss, load_stlb_miss)),
    row("DTLB_STORE_MISSES.MISS_CAUSES_A_WALK", 0x49, 0x01, sum(Q::page_walks_store)),
    row("DTLB_STORE_MISSES.WALK_COMPLETED", 0x49, 0x0E, sum(Q::page_walks_store)),
    row("DTLB_STORE_MISSES.STLB_HIT", 0x49, 0x60, on_but_not(store_dtlb_miss, store_stlb_miss)),
    row("ITLB_MISSES.MISS_CAUSES_A_WALK", 0x85, 0x01, sum(Q::page_walks_instruction)),
    row("ITLB_MISSES.WALK_COMPLETED", 0x85, 0x0E, sum(Q::page_walks_instruction)),
    row("ITLB_MISSES.STLB_HIT", 0x85, 0x60, on_but_not(itlb_miss, stlb_instruction_miss)),
    at_least(5, row("CYCLE_ACTIVITY.STALLS_L2_PENDING", 0xA3, 0x05, sum(Q::cycles_stalled_l2_misses, 5))),
    at_least(6, row("CYCLE_ACTIVITY.STALLS_LDM_PENDING", 0xA3, 0x06, sum(Q::cycles_stalled_loads, 6))),
    at_least(12, row("CYCLE_ACTIVITY.STALLS_L1D_PENDING", 0xA3, 0x0C, sum(Q::cycles_stalled_l1d_misses, 12))),
    row("BACLEARS.ANY", 0xE6, 0x1F, on(front_end_resteer)),
};

inline constexpr auto haswell_events =
    join(fixed_three, haswell_clocks, precise_distribution, architectural_cache, sandy_bridge_branches,
         sandy_bridge_memory_uops, ivy_bridge_load_misses, load_latency_samples, haswell_l2, haswell_l2_hits,
         l1d_replacement, haswell_prefetches, sandy_bridge_prefetch_hits, haswell_l2_lines,
         sandy_bridge_load_blocks, sandy_bridge_off_core_requests, haswell_small_page_walks, nehalem_icache,
         precise_branches, skylake_machine_clears, sandy_bridge_recovery, sandy_bridge_uops,
         slots_not_delivered, sandy_bridge_lbr_inserts, haswell_transactions, haswell_own,
         off_core(0xB7, {0x10001, 0x3F80400001, 0x10002, 0x3F80400002}), architectural_names,
         architectural_mispredicts);

inline constexpr std::array haswell_cache{
    CacheEvent{l1d, read, access, 0x81D0},          CacheEvent{l1d, read, miss, 0x0151},
    CacheEvent{l1d, write, access, 0x82D0},         CacheEvent{l1i, read, miss, 0x0280},
    CacheEvent{ll, read, access, 0x01B7, 0x10001},  CacheEvent{ll, read, miss, 0x01B7, 0x3FB8400001},
    CacheEvent{ll, write, access, 0x01B7, 0x10002}, CacheEvent{ll, write, miss, 0x01B7, 0x3FB8400002},
    CacheEvent{dtlb, read, access, 0x81D0},         CacheEvent{dtlb, read, miss, 0x0108},
    CacheEvent{dtlb, write, access, 0x82D0},        CacheEvent{dtlb, write, miss, 0x0149},
    CacheEvent{itlb, read, access, 0x6085},         CacheEvent{itlb, read, miss, 0x0185},
    CacheEvent{bpu, read, access, 0x00C4},          CacheEvent{bpu, read, miss, 0x00C5},
};

}  // namespace pmusim::event_rows

#endif
