// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_NEHALEM_FAMILY_H
#define PMUSIM_SRC_CPU_CORES_NEHALEM_FAMILY_H

#include "cache_events.h"
#include "core_events.h"

/// What Nehalem and Westmere share.
namespace pmusim::event_rows {

inline constexpr std::array nehalem_and_westmere{
    row("CPU_CLK_UNHALTED.THREAD_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.REF_P", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("INST_RETIRED.X87", 0xC0, 0x02, on(x87)),
    row("BR_INST_RETIRED.ALL_BRANCHES", 0xC4, 0x00, on(branch)),
    row("BR_INST_RETIRED.CONDITIONAL", 0xC4, 0x01, on(conditional)),
    row("BR_INST_RETIRED.NEAR_CALL", 0xC4, 0x02, on(near_call)),
    row("BR_MISP_RETIRED.NEAR_CALL", 0xC5, 0x02, on(mispredicted_indirect_call)),
    row("MEM_INST_RETIRED.LOADS", 0x0B, 0x01, on(load)),
    row("MEM_INST_RETIRED.STORES", 0x0B, 0x02, on(store)),
    row("MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD", 0x0B, 0x10, on(load_latency)),
    row("MEM_LOAD_RETIRED.L1D_HIT", 0xCB, 0x01, on(load_l1_hit)),
    row("MEM_LOAD_RETIRED.L2_HIT", 0xCB, 0x02, on(load_l2_hit)),
    row("MEM_LOAD_RETIRED.L3_UNSHARED_HIT", 0xCB, 0x04, on_unshared_l3_hit()),
    row("MEM_LOAD_RETIRED.OTHER_CORE_L2_HIT_HITM", 0xCB, 0x08,
        on_any({load_snoop_hit, load_snoop_forward, load_snoop_modified})),
    row("MEM_LOAD_RETIRED.L3_MISS", 0xCB, 0x10, on(load_l3_miss)),
    row("MEM_LOAD_RETIRED.HIT_LFB", 0xCB, 0x40, on(load_fb_hit)),
    row("MEM_LOAD_RETIRED.DTLB_MISS", 0xCB, 0x80, on(load_stlb_miss)),
    row("MEM_STORE_RETIRED.DTLB_MISS", 0x0C, 0x01, on(store_stlb_miss)),
    row("L1D.REPL", 0x51, 0x01, sum(Q::l1d_replacements)),
    row("L1I.MISSES", 0x80, 0x02, on(l1i_miss)),
    row("L2_RQSTS.LD_HIT", 0x24, 0x01, sum_but_not(Q::l2_data_reads, Q::l2_data_read_misses)),
    row("L2_RQSTS.LD_MISS", 0x24, 0x02, sum(Q::l2_data_read_misses)),
    row("L2_RQSTS.LOADS", 0x24, 0x03, sum(Q::l2_data_reads)),
    row("L2_RQSTS.RFO_HIT", 0x24, 0x04, sum_but_not(Q::l2_ownership_reads, Q::l2_ownership_read_misses)),
    row("L2_RQSTS.RFO_MISS", 0x24, 0x08, sum(Q::l2_ownership_read_misses)),
    row("L2_RQSTS.RFOS", 0x24, 0x0C, sum(Q::l2_ownership_reads)),
    row("L2_RQSTS.IFETCH_HIT", 0x24, 0x10, sum_but_not(Q::l2_code_reads, Q::l2_code_read_misses)),
    row("L2_RQSTS.IFETCH_MISS", 0x24, 0x20, sum(Q::l2_code_read_misses)),
    row("L2_RQSTS.IFETCHES", 0x24, 0x30, sum(Q::l2_code_reads)),
    row("L2_RQSTS.PREFETCH_MISS", 0x24, 0x80, sum(Q::l2_prefetch_misses)),
    row("L2_RQSTS.PREFETCHES", 0x24, 0xC0, sum(Q::l2_prefetches)),
    row("L2_LINES_IN.ANY", 0xF1, 0x07, sum(Q::l2_lines_in)),
    row("PARTIAL_ADDRESS_ALIAS", 0x07, 0x01, on(address_alias)),
    row("UOPS_RETIRED.MACRO_FUSED", 0xC2, 0x04, on_fused_pair()),
    row("OFFCORE_REQUESTS.DEMAND_READ_DATA", 0xB0, 0x01, on(load_l2_miss)),
    row("OFFCORE_REQUESTS.DEMAND_READ_CODE", 0xB0, 0x02, on(l2i_miss)),
    row("OFFCORE_REQUESTS.DEMAND_RFO", 0xB0, 0x04, on(store_l2_miss)),
    row("L2_RQSTS.MISS", 0x24, 0xAA, sum_of({Q::l2_misses, Q::l2_prefetch_misses})),
    row("L2_RQSTS.REFERENCES", 0x24, 0xFF, sum_of({Q::l2_requests, Q::l2_prefetches})),
    row("DTLB_LOAD_MISSES.ANY", 0x08, 0x01, on(load_dtlb_miss)),
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x08, 0x02, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x08, 0x10, on_but_not(load_dtlb_miss, load_stlb_miss)),
    row("DTLB_MISSES.ANY", 0x49, 0x01, on_any({load_dtlb_miss, store_dtlb_miss})),
    row("ITLB_MISSES.ANY", 0x85, 0x01, on(itlb_miss)),
    row("ITLB_MISSES.WALK_COMPLETED", 0x85, 0x02, sum(Q::page_walks_instruction)),
    row("ITLB_MISS_RETIRED", 0xC8, 0x20, on(itlb_miss)),
    row("UOPS_RETIRED.ANY", 0xC2, 0x01, sum(Q::uops)),
    row("UOPS_RETIRED.RETIRE_SLOTS", 0xC2, 0x02, sum(Q::uops)),
    at_least(1, row("UOPS_RETIRED.ACTIVE_CYCLES", 0xC2, 0x01, sum(Q::uops))),
    fewer_than(1, row("UOPS_RETIRED.STALL_CYCLES", 0xC2, 0x01, sum(Q::uops))),
    row("BACLEAR.CLEAR", 0xE6, 0x01, on(front_end_resteer)),
    row("MACHINE_CLEARS.MEM_ORDER", 0xC3, 0x02, on(memory_ordering_clear)),
    row("MACHINE_CLEARS.SMC", 0xC3, 0x04, on(self_modifying_clear)),
};

inline constexpr auto nehalem_off_core = off_core(0xB7, {0xFF01, 0xF801, 0xFF02, 0xF802});

/// What PEBS takes.
inline constexpr PebsEvent nehalem_pebs_events[] = {
    {0x0B, 0x10}, {0x0F}, {0x0C, 0x01}, {0xC0}, {0xC2}, {0xC4}, {0xC5}, {0xC7}, {0xC8, 0x20}, {0xCB}, {0xF7}};

}  // namespace pmusim::event_rows

#endif
