// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_SANDY_BRIDGE_FAMILY_H
#define PMUSIM_SRC_CPU_CORES_SANDY_BRIDGE_FAMILY_H

#include "cache_events.h"
#include "core_events.h"

/// What Sandy Bridge and Ivy Bridge share.
namespace pmusim::event_rows {

inline constexpr std::array sandy_and_ivy_bridge{
    row("CPU_CLK_UNHALTED.THREAD_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.REF_XCLK", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("INST_RETIRED.ANY_P", 0xC0, 0x00, on(instruction)),
    row("MEM_TRANS_RETIRED.PRECISE_STORE", 0xCD, 0x02, on(store_latency)),
    row("L2_RQSTS.ALL_DEMAND_DATA_RD", 0x24, 0x03, sum(Q::l2_data_reads)),
    row("L2_RQSTS.DEMAND_DATA_RD_HIT", 0x24, 0x01, sum_but_not(Q::l2_data_reads, Q::l2_data_read_misses)),
    row("L2_RQSTS.RFO_HIT", 0x24, 0x04, sum_but_not(Q::l2_ownership_reads, Q::l2_ownership_read_misses)),
    row("L2_RQSTS.RFO_MISS", 0x24, 0x08, sum(Q::l2_ownership_read_misses)),
    row("L2_RQSTS.ALL_RFO", 0x24, 0x0C, sum(Q::l2_ownership_reads)),
    row("L2_RQSTS.CODE_RD_HIT", 0x24, 0x10, sum_but_not(Q::l2_code_reads, Q::l2_code_read_misses)),
    row("L2_RQSTS.CODE_RD_MISS", 0x24, 0x20, sum(Q::l2_code_read_misses)),
    row("L2_RQSTS.ALL_CODE_RD", 0x24, 0x30, sum(Q::l2_code_reads)),
    row("DTLB_STORE_MISSES.MISS_CAUSES_A_WALK", 0x49, 0x01, sum(Q::page_walks_store)),
    row("DTLB_STORE_MISSES.WALK_COMPLETED", 0x49, 0x02, sum(Q::page_walks_store)),
    row("DTLB_STORE_MISSES.STLB_HIT", 0x49, 0x10, on_but_not(store_dtlb_miss, store_stlb_miss)),
    row("ITLB_MISSES.MISS_CAUSES_A_WALK", 0x85, 0x01, sum(Q::page_walks_instruction)),
    row("ITLB_MISSES.WALK_COMPLETED", 0x85, 0x02, sum(Q::page_walks_instruction)),
    row("ITLB_MISSES.STLB_HIT", 0x85, 0x10, on_but_not(itlb_miss, stlb_instruction_miss)),
    row("MEM_LOAD_UOPS_LLC_HIT_RETIRED.XSNP_MISS", 0xD2, 0x01, on(load_snoop_miss)),
    row("MEM_LOAD_UOPS_LLC_HIT_RETIRED.XSNP_HIT", 0xD2, 0x02, on_any({load_snoop_hit, load_snoop_forward})),
    row("MEM_LOAD_UOPS_LLC_HIT_RETIRED.XSNP_HITM", 0xD2, 0x04, on(load_snoop_modified)),
    row("MEM_LOAD_UOPS_LLC_HIT_RETIRED.XSNP_NONE", 0xD2, 0x08, on_unshared_l3_hit()),
    row("L2_LINES_IN.ANY", 0xF1, 0x07, sum(Q::l2_lines_in)),
    row("BACLEARS.ANY", 0xE6, 0x1F, on(front_end_resteer)),
};

inline constexpr auto sandy_bridge_common =
    join(fixed_three, architectural_cache, sandy_bridge_branches, precise_branches, precise_distribution,
         sandy_bridge_memory_uops, load_latency_samples, l1d_replacement, sandy_bridge_prefetches,
         sandy_bridge_prefetch_hits, sandy_bridge_load_blocks, sandy_bridge_off_core_requests, nehalem_icache,
         skylake_machine_clears, sandy_bridge_recovery, sandy_bridge_uops, slots_not_delivered,
         sandy_bridge_lbr_inserts, sandy_and_ivy_bridge,
         off_core(0xB7, {0x10001, 0x3F80400001, 0x10002, 0x3F80400002}), architectural_names,
         architectural_mispredicts);

inline constexpr std::array sandy_bridge_cache{
    CacheEvent{l1d, read, access, 0xF1D0},
    CacheEvent{l1d, read, miss, 0x0151},
    CacheEvent{l1d, write, access, 0xF2D0},
    CacheEvent{l1d, write, miss, 0x0851},
    CacheEvent{l1i, read, miss, 0x0280},
    CacheEvent{ll, read, access, 0x01B7, 0x10001},
    CacheEvent{ll, read, miss, 0x01B7, 0x3F80400001},
    CacheEvent{ll, write, access, 0x01B7, 0x10002},
    CacheEvent{ll, write, miss, 0x01B7, 0x3F80400002},
    CacheEvent{dtlb, read, access, 0x81D0},
    CacheEvent{dtlb, read, miss, 0x0108},
    CacheEvent{dtlb, write, access, 0x82D0},
    CacheEvent{dtlb, write, miss, 0x0149},
    CacheEvent{itlb, read, access, 0x1085},
    CacheEvent{itlb, read, miss, 0x0185},
    CacheEvent{bpu, read, access, 0x00C4},
    CacheEvent{bpu, read, miss, 0x00C5},
};

}  // namespace pmusim::event_rows

#endif
