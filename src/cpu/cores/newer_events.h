// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_NEWER_EVENTS_H
#define PMUSIM_SRC_CPU_CORES_NEWER_EVENTS_H

#include "event_rows.h"

/// Events of cores that libpfm4 does not have, by the vendor's published lists.
namespace pmusim::event_rows {

/// Lion Cove reads them by other bits than the cores before.
inline constexpr std::array lion_cove_l2_hits{
    row("L2_RQSTS.DEMAND_DATA_RD_HIT", 0x24, 0x41, on(load_l2_hit)),
    row("L2_RQSTS.RFO_HIT", 0x24, 0x42, on_but_not(store_l1_miss, store_l2_miss)),
    row("L2_RQSTS.CODE_RD_HIT", 0x24, 0x44, on_but_not(l1i_miss, l2i_miss)),
};

inline constexpr std::array lion_cove_pipeline{
    row("IDQ.MITE_UOPS", 0x79, 0x04, sum(Q::uops_mite)),
    row("IDQ.DSB_UOPS", 0x79, 0x08, sum(Q::uops_dsb)),
    row("IDQ.MS_UOPS", 0x79, 0x20, sum(Q::uops_ms)),
    row("LSD.UOPS", 0xA8, 0x01, sum(Q::uops_lsd)),
    row("DECODE.LCP", 0x87, 0x01, sum(Q::length_stall_cycles)),
    row("ICACHE_DATA.STALLS", 0x80, 0x04, sum(Q::l1i_stall_cycles)),
    row("DSB2MITE_SWITCHES.PENALTY_CYCLES", 0x61, 0x02, sum(Q::dsb_to_mite_cycles)),
    row("BACLEARS.ANY", 0x60, 0x01, on(front_end_resteer)),
    row("UOPS_ISSUED.ANY", 0xAE, 0x01, sum(Q::uops_issued)),
    row("UOPS_EXECUTED.THREAD", 0xB1, 0x01, sum(Q::uops_executed)),
    fewer_than(1, row("UOPS_EXECUTED.STALLS", 0xB1, 0x01, sum(Q::uops_executed))),
    row("EXE_ACTIVITY.1_PORTS_UTIL", 0xA6, 0x02, sum(Q::cycles_executing_one)),
    row("EXE_ACTIVITY.2_PORTS_UTIL", 0xA6, 0x04, sum(Q::cycles_executing_two)),
    row("EXE_ACTIVITY.3_PORTS_UTIL", 0xA6, 0x08, sum(Q::cycles_executing_three)),
    row("EXE_ACTIVITY.4_PORTS_UTIL", 0xA6, 0x10, sum(Q::cycles_executing_more)),
    at_least(2, row("EXE_ACTIVITY.BOUND_ON_STORES", 0xA6, 0x40, sum(Q::store_buffer_full_cycles, 2))),
    at_least(5, row("EXE_ACTIVITY.BOUND_ON_LOADS", 0xA6, 0x21, sum(Q::stall_cycles_memory, 5))),
    at_least(1,
             row("ARITH.DIV_ACTIVE", 0xB0, 0x09, sum_of({Q::divider_cycles_integer, Q::divider_cycles_fp}))),
    at_least(1, row("ARITH.FPDIV_ACTIVE", 0xB0, 0x01, sum(Q::divider_cycles_fp))),
    at_least(1, row("ARITH.IDIV_ACTIVE", 0xB0, 0x08, sum(Q::divider_cycles_integer))),
};

inline constexpr std::array lion_cove_requests{
    row("SW_PREFETCH_ACCESS.NTA", 0x40, 0x01, on(prefetch_nta)),
    row("SW_PREFETCH_ACCESS.T0", 0x40, 0x02, on(prefetch_t0)),
    row("SW_PREFETCH_ACCESS.T1_T2", 0x40, 0x04, on(prefetch_t1_t2)),
    row("SW_PREFETCH_ACCESS.PREFETCHW", 0x40, 0x08, on(prefetch_write)),
    row("DTLB_LOAD_MISSES.WALK_PENDING", 0x12, 0x10, sum(Q::page_walk_cycles_load)),
    row("DTLB_STORE_MISSES.WALK_PENDING", 0x13, 0x10, sum(Q::page_walk_cycles_store)),
    row("ITLB_MISSES.WALK_PENDING", 0x11, 0x10, sum(Q::page_walk_cycles_instruction)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x12, 0x320, on_but_not(load_dtlb_miss, load_stlb_miss)),
    row("DTLB_STORE_MISSES.STLB_HIT", 0x13, 0x320, on_but_not(store_dtlb_miss, store_stlb_miss)),
    row("ITLB_MISSES.STLB_HIT", 0x11, 0x120, on_but_not(itlb_miss, stlb_instruction_miss)),
    row("L1D_PENDING.LOAD", 0x48, 0x01, sum(Q::l1d_misses_under_way)),
    row("L1D_MISS.FB_FULL", 0x49, 0x02, sum(Q::fill_buffers_full_cycles)),
    with_extra(0x01, row("FRONTEND_RETIRED.ANY_DSB_MISS", 0xC6, 0x03, on(dsb_miss))),
    with_extra(0x11, row("FRONTEND_RETIRED.DSB_MISS", 0xC6, 0x03, on(dsb_miss))),
    with_extra(0x08, row("FRONTEND_RETIRED.MS_FLOWS", 0xC6, 0x03, on(microcoded))),
    with_extra(0x17, row("FRONTEND_RETIRED.UNKNOWN_BRANCH", 0xC6, 0x03, on(front_end_resteer))),
};

/// Requests that leave the core, from Golden Cove to Cougar Cove.
inline constexpr std::array golden_cove_requests{
    row("OFFCORE_REQUESTS.DEMAND_CODE_RD", 0x21, 0x02, on(l2i_miss)),
    row("OFFCORE_REQUESTS.DEMAND_RFO", 0x21, 0x04, on(store_l2_miss)),
    row("OFFCORE_REQUESTS.L3_MISS_DEMAND_DATA_RD", 0x21, 0x10, on(load_l3_miss)),
    row("OFFCORE_REQUESTS_OUTSTANDING.DEMAND_DATA_RD", 0x20, 0x01, sum(Q::data_reads_under_way)),
    row("OFFCORE_REQUESTS_OUTSTANDING.DEMAND_CODE_RD", 0x20, 0x02, sum(Q::code_reads_under_way)),
    row("OFFCORE_REQUESTS_OUTSTANDING.DEMAND_RFO", 0x20, 0x04, sum(Q::ownership_reads_under_way)),
    row("OFFCORE_REQUESTS_OUTSTANDING.L3_MISS_DEMAND_DATA_RD", 0x20, 0x10, sum(Q::memory_reads_under_way)),
};

/// Of Lion Cove and Cougar Cove: what the cores before had, and where loads found their data.
inline constexpr std::array lion_cove_sources{
    row("OFFCORE_REQUESTS.DATA_RD", 0x21, 0x08, sum(Q::all_data_reads)),
    row("OFFCORE_REQUESTS_OUTSTANDING.DATA_RD", 0x20, 0x08, sum(Q::all_data_reads_under_way)),
    at_least(16, row("CYCLE_ACTIVITY.CYCLES_MEM_ANY", 0xA3, 0x10, sum(Q::cycles_loads, 16))),
    row("MEM_LOAD_RETIRED.L1_HIT", 0xD1, 0x101, on(load_l1_hit)),
    row("MEM_LOAD_RETIRED.L2_HIT", 0xD1, 0x02, on(load_l2_hit)),
    row("MEM_LOAD_RETIRED.L2_MISS", 0xD1, 0x10, on(load_l2_miss)),
    row("MEM_LOAD_RETIRED.L3_MISS", 0xD1, 0x20, on(load_l3_miss)),
    row("MEM_STORE_RETIRED.L2_HIT", 0x44, 0x01, on_but_not(store_l1_miss, store_l2_miss)),
};

/// Small cores, from Gracemont on.
inline constexpr std::array gracemont_pipeline{
    row("UOPS_ISSUED.ANY", 0x0E, 0x00, sum(Q::uops_issued)),
    row("ICACHE.ACCESSES", 0x80, 0x03, sum_of({Q::l1i_hits, Q::l1i_misses})),
    row("LD_BLOCKS.ADDRESS_ALIAS", 0x03, 0x04, on(address_alias)),
};
/// From Gracemont to Darkmont.
inline constexpr std::array gracemont_bandwidth{
    row("TOPDOWN_FE_BOUND.FRONTEND_BANDWIDTH", 0x71, 0x8D, sum(Q::slots_fetch_bandwidth)),
};
/// From Gracemont to Skymont.
inline constexpr std::array gracemont_more{
    row("UOPS_RETIRED.MS", 0xC2, 0x01, sum(Q::slots_heavy)),
    row("BR_INST_RETIRED.NEAR_TAKEN", 0xC4, 0xC0, on(near_taken)),
};
inline constexpr std::array crestmont_more{
    row("LD_BLOCKS.STORE_FORWARD", 0x03, 0x02, on(store_forward_blocked)),
    row("DTLB_LOAD_MISSES.WALK_PENDING", 0x08, 0x10, sum(Q::page_walk_cycles_load)),
    row("DTLB_STORE_MISSES.WALK_PENDING", 0x49, 0x10, sum(Q::page_walk_cycles_store)),
    row("ITLB_MISSES.WALK_PENDING", 0x85, 0x10, sum(Q::page_walk_cycles_instruction)),
    row("MEM_BOUND_STALLS_LOAD.ALL", 0x34, 0x7F, sum(Q::stall_cycles_l1_miss)),
    row("MEM_BOUND_STALLS_LOAD.L2_MISS", 0x34, 0x7E, sum(Q::stall_cycles_l2_miss)),
    row("MEM_BOUND_STALLS_LOAD.LLC_MISS", 0x34, 0x78, sum(Q::stall_cycles_l3_miss)),
};
/// Skymont and Darkmont: reasons of the slots that the architectural events sum up.
inline constexpr std::array skymont_reasons{
    row("TOPDOWN_FE_BOUND.FRONTEND_LATENCY", 0x71, 0x72, sum(Q::slots_fetch_latency)),
    row("TOPDOWN_BAD_SPECULATION.MISPREDICT", 0x73, 0x04, sum(Q::slots_branch_mispredict)),
    row("ICACHE.HIT", 0x80, 0x01, sum(Q::l1i_hits)),
    row("BACLEARS.COND", 0xE6, 0x10, on_all({front_end_resteer, conditional})),
};

/// Darkmont and Cougar Cove gave each kind of branch a bit of its own. Arctic Wolf: taken to be the same.
inline constexpr std::array darkmont_branches{
    row("BR_INST_RETIRED.ALL_BRANCHES", 0xC4, 0x00, on(branch)),
    row("BR_INST_RETIRED.COND_TAKEN", 0xC4, 0x03, on(conditional_taken)),
    row("BR_INST_RETIRED.COND_NTAKEN", 0xC4, 0x04, on(conditional_not_taken)),
    row("BR_INST_RETIRED.COND", 0xC4, 0x07, on(conditional)),
    row("BR_INST_RETIRED.NEAR_RETURN", 0xC4, 0x08, on(near_return)),
    row("BR_INST_RETIRED.NEAR_INDIRECT_CALL", 0xC4, 0x10, on(indirect_call)),
    row("BR_INST_RETIRED.NEAR_DIRECT_CALL", 0xC4, 0x20, on(direct_call)),
    row("BR_INST_RETIRED.NEAR_CALL", 0xC4, 0x30, on(near_call)),
    row("BR_INST_RETIRED.NEAR_INDIRECT_JMP", 0xC4, 0x40, on(indirect_jump)),
    row("BR_INST_RETIRED.NEAR_INDIRECT", 0xC4, 0x50, on_any({indirect_jump, indirect_call})),
    row("BR_INST_RETIRED.NEAR_INDIRECT_OR_RETURN", 0xC4, 0x58,
        on_any({indirect_jump, indirect_call, near_return})),
    row("BR_INST_RETIRED.NEAR_DIRECT_JMP", 0xC4, 0x80, on(direct_jump)),
    row("BR_INST_RETIRED.NEAR_JMP", 0xC4, 0xC0, on_any({direct_jump, indirect_jump})),
    row("BR_INST_RETIRED.NEAR_TAKEN", 0xC4, 0xFB, on(near_taken)),
    row("BR_MISP_RETIRED.ALL_BRANCHES", 0xC5, 0x00, on(mispredicted)),
    row("BR_MISP_RETIRED.COND_TAKEN", 0xC5, 0x03, on(mispredicted_conditional_taken)),
    row("BR_MISP_RETIRED.COND_NTAKEN", 0xC5, 0x04, on(mispredicted_conditional_not_taken)),
    row("BR_MISP_RETIRED.NEAR_RETURN", 0xC5, 0x08, on(mispredicted_return)),
    row("BR_MISP_RETIRED.NEAR_INDIRECT", 0xC5, 0x50, on(mispredicted_indirect)),
};

}  // namespace pmusim::event_rows

#endif
