// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_NEWER_EVENTS_H
#define PMUSIM_SRC_CPU_CORES_NEWER_EVENTS_H

#include "event_rows.h"

/// Events of cores that libpfm4 does not have, by the vendor's published lists.
namespace pmusim::event_rows {

/// Lion Cove reads them by other bits than the cores before.
inline constexpr std::array lion_cove_l2_hits{
    row("L2_RQSTS.DEMAND_DATA_RD_HIT", 0x24, 0x41, sum_but_not(Q::l2_data_reads, Q::l2_data_read_misses)),
    row("L2_RQSTS.RFO_HIT", 0x24, 0x42, sum_but_not(Q::l2_ownership_reads, Q::l2_ownership_read_misses)),
    row("L2_RQSTS.CODE_RD_HIT", 0x24, 0x44, sum_but_not(Q::l2_code_reads, Q::l2_code_read_misses)),
};

inline constexpr std::array lion_cove_pipeline{
    row("IDQ.MITE_UOPS", 0x79, 0x04, sum(Q::uops_mite)),
    row("IDQ.DSB_UOPS", 0x79, 0x08, sum(Q::uops_dsb)),
    row("IDQ.MS_UOPS", 0x79, 0x20, sum(Q::uops_ms)),
    row("LSD.UOPS", 0xA8, 0x01, sum(Q::uops_lsd)),
    row("DECODE.LCP", 0x87, 0x01, sum(Q::length_stall_cycles)),
    row("ICACHE_DATA.STALLS", 0x80, 0x04, sum(Q::l1i_stall_cycles)),
    row("ICACHE_TAG.STALLS", 0x83, 0x04, sum(Q::itlb_stall_cycles)),
    row("INT_MISC.CLEAR_RESTEER_CYCLES", 0xAD, 0x80, sum(Q::clear_resteer_cycles)),
    row("INT_MISC.UNKNOWN_BRANCH_CYCLES", 0xAD, 0x40, sum(Q::resteer_cycles)),
    row("BE_STALLS.SCOREBOARD", 0xA2, 0x02, sum(Q::serializing_stall_cycles)),
    row("UOPS_EXECUTED.X87", 0xB1, 0x10, sum(Q::uops_x87)),
    row("DSB2MITE_SWITCHES.PENALTY_CYCLES", 0x61, 0x02, sum(Q::dsb_to_mite_cycles)),
    row("BACLEARS.ANY", 0x60, 0x01, on(front_end_resteer)),
    row("UOPS_RETIRED.MS", 0xC2, 0x04, sum(Q::slots_heavy)),
    row("UOPS_ISSUED.ANY", 0xAE, 0x01, sum(Q::uops_issued)),
    row("UOPS_EXECUTED.THREAD", 0xB1, 0x01, sum(Q::uops_executed)),
    fewer_than(1, row("UOPS_EXECUTED.STALLS", 0xB1, 0x01, sum(Q::uops_executed))),
    row("EXE_ACTIVITY.1_PORTS_UTIL", 0xA6, 0x02, sum(Q::cycles_executing_one)),
    row("EXE_ACTIVITY.2_PORTS_UTIL", 0xA6, 0x04, sum(Q::cycles_executing_two)),
    row("EXE_ACTIVITY.2_3_PORTS_UTIL", 0xA6, 0x0C,
        sum_of({Q::cycles_executing_two, Q::cycles_executing_three})),
    row("EXE_ACTIVITY.3_PORTS_UTIL", 0xA6, 0x08, sum(Q::cycles_executing_three)),
    row("EXE_ACTIVITY.4_PORTS_UTIL", 0xA6, 0x10, sum(Q::cycles_executing_more)),
    row("EXE_ACTIVITY.EXE_BOUND_0_PORTS", 0xA6, 0x80, sum(Q::cycles_executing_none_of_some)),
    row("RS.EMPTY", 0xA5, 0x07, sum(Q::scheduler_empty_cycles)),
    at_least(2, row("EXE_ACTIVITY.BOUND_ON_STORES", 0xA6, 0x40, sum(Q::store_buffer_full_cycles, 2))),
    at_least(5, row("EXE_ACTIVITY.BOUND_ON_LOADS", 0xA6, 0x21, sum(Q::cycles_stalled_loads, 5))),
    at_least(1,
             row("ARITH.DIV_ACTIVE", 0xB0, 0x09, sum_of({Q::divider_cycles_integer, Q::divider_cycles_fp}))),
    at_least(1, row("ARITH.FPDIV_ACTIVE", 0xB0, 0x01, sum(Q::divider_cycles_fp))),
    at_least(1, row("ARITH.IDIV_ACTIVE", 0xB0, 0x08, sum(Q::divider_cycles_integer))),
};

/// From Lion Cove to Panther Cove.
inline constexpr std::array lion_cove_first_decoder{
    row("UOPS_DECODED.DEC0_UOPS", 0x76, 0x01, sum(Q::uops_first_decoder)),
};
inline constexpr std::array lion_cove_decoders{
    row("INST_DECODED.DECODERS", 0x75, 0x01, sum(Q::instructions_decoded)),
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

/// Kinds of branches by what the umask leaves out: Gracemont to Skymont.
inline constexpr std::array gracemont_jumps{
    row("BR_INST_RETIRED.TAKEN", 0xC4, 0x80, on_any({near_taken, far_branch})),
    row("BR_INST_RETIRED.INDIRECT_JMP", 0xC4, 0xEF, on(indirect_jump)),
    row("BR_INST_RETIRED.REL_JMP", 0xC4, 0xDF, on(direct_jump)),
    row("BR_MISP_RETIRED.INDIRECT_JMP", 0xC5, 0xEF, on_all({mispredicted, indirect_jump})),
    row("BR_MISP_RETIRED.NEAR_TAKEN", 0xC5, 0x80, on(mispredicted_near_taken)),
};
inline constexpr std::array skymont_not_taken{
    row("BR_INST_RETIRED.COND_NTAKEN", 0xC4, 0x7F, on(conditional_not_taken)),
    row("BR_MISP_RETIRED.COND_NTAKEN", 0xC5, 0x7F, on(mispredicted_conditional_not_taken)),
};

/// The divider of small cores, from Gracemont on. The core model has one, so that there are as many busy ones
/// as cycles with any.
inline constexpr std::array gracemont_dividers{
    at_least(1,
             row("ARITH.DIV_ACTIVE", 0xCD, 0x03, sum_of({Q::divider_cycles_integer, Q::divider_cycles_fp}))),
    at_least(1, row("ARITH.IDIV_ACTIVE", 0xCD, 0x01, sum(Q::divider_cycles_integer))),
    row("ARITH.DIV_OCCUPANCY", 0xCD, 0x03, sum_of({Q::divider_cycles_integer, Q::divider_cycles_fp})),
    row("ARITH.FPDIV_OCCUPANCY", 0xCD, 0x02, sum(Q::divider_cycles_fp)),
    row("ARITH.IDIV_OCCUPANCY", 0xCD, 0x01, sum(Q::divider_cycles_integer)),
};

inline constexpr std::array gracemont_fp_divider{
    row("ARITH.FPDIV_ACTIVE", 0xCD, 0x02, sum(Q::divider_cycles_fp)),
};
inline constexpr std::array crestmont_fp_divider{
    at_least(1, row("ARITH.FPDIV_ACTIVE", 0xCD, 0x02, sum(Q::divider_cycles_fp))),
};

/// What dispatch to the memory scheduler waits for, from Gracemont on.
inline constexpr std::array gracemont_full_buffers{
    row("MEM_SCHEDULER_BLOCK.ST_BUF", 0x04, 0x01, sum(Q::store_buffer_full_cycles)),
    row("MEM_SCHEDULER_BLOCK.LD_BUF", 0x04, 0x02, sum(Q::load_buffer_full_cycles)),
};

/// Slots lost to clears that no branch caused, from Gracemont on. All of them go through microcode here: what
/// is written of the code, and interrupts.
inline constexpr std::array gracemont_clears{
    row("TOPDOWN_BAD_SPECULATION.MACHINE_CLEARS", 0x73, 0x03,
        sum_but_not(Q::slots_bad_speculation, Q::slots_branch_mispredict)),
    row("TOPDOWN_BAD_SPECULATION.NUKE", 0x73, 0x01,
        sum_but_not(Q::slots_bad_speculation, Q::slots_branch_mispredict)),
};

/// Cycles in which retirement waits for the oldest load, from Gracemont on.
inline constexpr std::array gracemont_oldest_load{
    row("LD_HEAD.L1_MISS_AT_RET", 0x05, 0x81, sum(Q::stall_cycles_l1_miss)),
    row("LD_HEAD.L1_BOUND_AT_RET", 0x05, 0xF4, sum_but_not(Q::stall_cycles_memory, Q::stall_cycles_l1_miss)),
};
/// Not on Darkmont.
inline constexpr std::array gracemont_any_oldest_load{
    row("LD_HEAD.ANY_AT_RET", 0x05, 0xFF, sum(Q::stall_cycles_memory)),
};

inline constexpr std::array gracemont_walks{
    row("ITLB_MISSES.MISS_CAUSED_WALK", 0x85, 0x01, sum(Q::page_walks_instruction)),
};
inline constexpr std::array skymont_walks{
    row("DTLB_LOAD_MISSES.MISS_CAUSED_WALK", 0x08, 0x01, sum(Q::page_walks_load)),
    row("DTLB_STORE_MISSES.MISS_CAUSED_WALK", 0x49, 0x01, sum(Q::page_walks_store)),
};

/// Skymont's non-architectural codes of what its architectural topdown events count.
inline constexpr std::array skymont_slots{
    row("TOPDOWN_FE_BOUND.ALL_NON_ARCH", 0x71, 0x00, sum(Q::slots_frontend)),
    row("TOPDOWN_BE_BOUND.ALL_NON_ARCH", 0x74, 0x00, sum(Q::slots_backend)),
    row("TOPDOWN_RETIRING.ALL_NON_ARCH", 0x72, 0x00, sum(Q::uops)),
    row("UOPS_RETIRED.ALL", 0xC2, 0x00, sum(Q::uops)),
};

/// Loads of a line on its way, in a buffer that another load asked for (Crestmont to Skymont).
inline constexpr std::array crestmont_buffer_hits{
    row("MEM_LOAD_UOPS_RETIRED.WCB_HIT", 0xD1, 0x20, on(load_fb_hit)),
};
inline constexpr std::array crestmont_l2{
    row("L2_REQUEST.HIT", 0x24, 0x02, sum_but_not(Q::l2_requests, Q::l2_misses)),
    row("L2_REQUEST.MISS", 0x24, 0x01, sum(Q::l2_misses)),
};
inline constexpr std::array skymont_l2{
    row("L2_REQUEST.ALL", 0x24, 0x07, sum(Q::l2_requests)),
};

/// Instructions behind an empty slot, by what fetch waited for (Skymont, Darkmont).
inline constexpr std::array skymont_fetch_sources{
    row("FRONTEND_RETIRED_SOURCE.ICACHE_L2_HIT", 0xC9, 0x01, on_but_not(l1i_miss, l2i_miss)),
    row("FRONTEND_RETIRED_SOURCE.ICACHE_L2_MISS", 0xC9, 0x0E, on(l2i_miss)),
    row("FRONTEND_RETIRED_SOURCE.ITLB_STLB_HIT", 0xC9, 0x10, on_but_not(itlb_miss, stlb_instruction_miss)),
    row("FRONTEND_RETIRED_SOURCE.ITLB_STLB_MISS", 0xC9, 0x20, on(stlb_instruction_miss)),
};
inline constexpr std::array darkmont_fetch_sources{
    row("FRONTEND_RETIRED_SOURCE.ICACHE_L3_HIT", 0xC9, 0x06, on(l3i_hit)),
    row("FRONTEND_RETIRED_SOURCE.ICACHE_L3_MISS", 0xC9, 0x08, on(l3i_miss)),
};

inline constexpr std::array skymont_microcode{
    row("MS_DECODED.MS_ENTRY", 0xE7, 0x01, on(ms_switch)),
};

/// Small cores, from Gracemont on.
inline constexpr std::array gracemont_pipeline{
    row("UOPS_ISSUED.ANY", 0x0E, 0x00, sum(Q::uops_issued)),
    row("ICACHE.ACCESSES", 0x80, 0x03, sum_of({Q::l1i_hits, Q::l1i_misses})),
    row("LD_BLOCKS.ADDRESS_ALIAS", 0x03, 0x04, on(address_alias)),
    row("MISC_RETIRED1.LFENCE", 0xE0, 0x02, on(load_fence)),
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
    row("MACHINE_CLEARS.ANY", 0xC3, 0x00, on(machine_clear)),
    row("MEM_BOUND_STALLS_LOAD.L2_HIT", 0x34, 0x01,
        sum_but_not(Q::stall_cycles_l1_miss, Q::stall_cycles_l2_miss)),
    row("MEM_BOUND_STALLS_LOAD.ALL", 0x34, 0x7F, sum(Q::stall_cycles_l1_miss)),
    row("MEM_BOUND_STALLS_LOAD.L2_MISS", 0x34, 0x7E, sum(Q::stall_cycles_l2_miss)),
    row("MEM_BOUND_STALLS_LOAD.LLC_MISS", 0x34, 0x78, sum(Q::stall_cycles_l3_miss)),
};
/// Skymont and Darkmont: reasons of the slots that the architectural events sum up.
inline constexpr std::array skymont_reasons{
    row("TOPDOWN_FE_BOUND.FRONTEND_LATENCY", 0x71, 0x72, sum(Q::slots_fetch_latency)),
    row("TOPDOWN_BAD_SPECULATION.MISPREDICT", 0x73, 0x04, sum(Q::slots_branch_mispredict)),
    row("ICACHE.HIT", 0x80, 0x01, sum(Q::l1i_hits)),
    row("LD_BLOCKS.DTLB_MISS", 0x03, 0x08, on(load_dtlb_miss)),
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
/// The big cores beside them distinguish more.
inline constexpr std::array cougar_cove_mispredicts{
    row("BR_MISP_RETIRED.COND", 0xC5, 0x07, on(mispredicted_conditional)),
    row("BR_MISP_RETIRED.NEAR_INDIRECT_CALL", 0xC5, 0x10, on(mispredicted_indirect_call)),
    row("BR_MISP_RETIRED.NEAR_INDIRECT_JMP", 0xC5, 0x40, on_all({mispredicted, indirect_jump})),
    row("BR_MISP_RETIRED.NEAR_TAKEN", 0xC5, 0xFB, on(mispredicted_near_taken)),
};

}  // namespace pmusim::event_rows

#endif
