// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_ATOM_EVENTS_H
#define PMUSIM_SRC_CPU_CORES_ATOM_EVENTS_H

#include "core_events.h"

/// Groups of events of the Atom line, named after the first microarchitecture that has them.
namespace pmusim::event_rows {

inline constexpr std::array goldmont_fixed{
    row("INST_RETIRED.ANY", 0x00, 0x01, on(instruction)),
    row("CPU_CLK_UNHALTED.CORE", 0x00, 0x02, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.REF_TSC", 0x00, 0x03, sum(Q::reference_cycles)),
};

inline constexpr std::array goldmont_clocks{
    row("INST_RETIRED.ANY_P", 0xC0, 0x00, on(instruction)),
    row("CPU_CLK_UNHALTED.CORE_P", 0x3C, 0x00, sum(Q::cycles)),
    row("LONGEST_LAT_CACHE.REFERENCE", 0x2E, 0x4F, sum(Q::llc_references)),
    row("LONGEST_LAT_CACHE.MISS", 0x2E, 0x41, sum(Q::llc_misses)),
    row("ICACHE.MISSES", 0x80, 0x02, on(l1i_miss)),
};

/// The umask's clear bits say what is left out.
inline constexpr std::array goldmont_branches{
    row("BR_INST_RETIRED.ALL_BRANCHES", 0xC4, 0x00, on(branch)),
    row("BR_INST_RETIRED.JCC", 0xC4, 0x7E, on(conditional)),
    row("BR_INST_RETIRED.TAKEN_JCC", 0xC4, 0xFE, on(conditional_taken)),
    row("BR_INST_RETIRED.FAR_BRANCH", 0xC4, 0xBF, on(far_branch)),
    row("BR_INST_RETIRED.NON_RETURN_IND", 0xC4, 0xEB, on_any({indirect_jump, indirect_call})),
    row("BR_INST_RETIRED.RETURN", 0xC4, 0xF7, on(near_return)),
    row("BR_INST_RETIRED.CALL", 0xC4, 0xF9, on(near_call)),
    row("BR_INST_RETIRED.IND_CALL", 0xC4, 0xFB, on(indirect_call)),
    row("BR_INST_RETIRED.REL_CALL", 0xC4, 0xFD, on(direct_call)),
    row("BR_MISP_RETIRED.ALL_BRANCHES", 0xC5, 0x00, on(mispredicted)),
    row("BR_MISP_RETIRED.JCC", 0xC5, 0x7E, on(mispredicted_conditional)),
    row("BR_MISP_RETIRED.TAKEN_JCC", 0xC5, 0xFE, on(mispredicted_conditional_taken)),
    row("BR_MISP_RETIRED.NON_RETURN_IND", 0xC5, 0xEB, on(mispredicted_indirect)),
    row("BR_MISP_RETIRED.RETURN", 0xC5, 0xF7, on(mispredicted_return)),
    row("BR_MISP_RETIRED.IND_CALL", 0xC5, 0xFB, on(mispredicted_indirect_call)),
};
/// New names for the same umasks.
inline constexpr std::array gracemont_branches{
    row("BR_INST_RETIRED.COND", 0xC4, 0x7E, on(conditional)),
    row("BR_INST_RETIRED.COND_TAKEN", 0xC4, 0xFE, on(conditional_taken)),
    row("BR_INST_RETIRED.INDIRECT", 0xC4, 0xEB, on_any({indirect_jump, indirect_call})),
    row("BR_INST_RETIRED.INDIRECT_CALL", 0xC4, 0xFB, on(indirect_call)),
    row("BR_INST_RETIRED.NEAR_CALL", 0xC4, 0xF9, on(near_call)),
    row("BR_INST_RETIRED.NEAR_RETURN", 0xC4, 0xF7, on(near_return)),
    row("BR_MISP_RETIRED.COND", 0xC5, 0x7E, on(mispredicted_conditional)),
    row("BR_MISP_RETIRED.COND_TAKEN", 0xC5, 0xFE, on(mispredicted_conditional_taken)),
    row("BR_MISP_RETIRED.INDIRECT", 0xC5, 0xEB, on(mispredicted_indirect)),
    row("BR_MISP_RETIRED.INDIRECT_CALL", 0xC5, 0xFB, on(mispredicted_indirect_call)),
};

inline constexpr std::array goldmont_memory_uops{
    row("MEM_UOPS_RETIRED.LOCK_LOADS", 0xD0, 0x21, {.all = {load, locked}}),
    row("MEM_UOPS_RETIRED.SPLIT_LOADS", 0xD0, 0x41, on(split_load)),
    row("MEM_UOPS_RETIRED.SPLIT_STORES", 0xD0, 0x42, on(split_store)),
    row("MEM_UOPS_RETIRED.SPLIT", 0xD0, 0x43, on_any({split_load, split_store})),
    row("MEM_UOPS_RETIRED.ALL_LOADS", 0xD0, 0x81, on(load)),
    row("MEM_UOPS_RETIRED.ALL_STORES", 0xD0, 0x82, on(store)),
    row("MEM_UOPS_RETIRED.ALL", 0xD0, 0x83, on_any({load, store})),
};
inline constexpr std::array goldmont_dtlb_misses{
    row("MEM_UOPS_RETIRED.DTLB_MISS_LOADS", 0xD0, 0x11, on(load_dtlb_miss)),
    row("MEM_UOPS_RETIRED.DTLB_MISS_STORES", 0xD0, 0x12, on(store_dtlb_miss)),
    row("MEM_UOPS_RETIRED.DTLB_MISS", 0xD0, 0x13, on_any({load_dtlb_miss, store_dtlb_miss})),
};
inline constexpr std::array gracemont_stlb_misses{
    row("MEM_UOPS_RETIRED.STLB_MISS_LOADS", 0xD0, 0x11, on(load_stlb_miss)),
    row("MEM_UOPS_RETIRED.STLB_MISS_STORES", 0xD0, 0x12, on(store_stlb_miss)),
    row("MEM_UOPS_RETIRED.STLB_MISS", 0xD0, 0x13, on_any({load_stlb_miss, store_stlb_miss})),
};

inline constexpr std::array goldmont_load_sources{
    row("MEM_LOAD_UOPS_RETIRED.L1_HIT", 0xD1, 0x01, on(load_l1_hit)),
    row("MEM_LOAD_UOPS_RETIRED.L2_HIT", 0xD1, 0x02, on(load_l2_hit)),
    row("MEM_LOAD_UOPS_RETIRED.L1_MISS", 0xD1, 0x08, on(load_l1_miss)),
    row("MEM_LOAD_UOPS_RETIRED.L2_MISS", 0xD1, 0x10, on(load_l2_miss)),
    row("MEM_LOAD_UOPS_RETIRED.HITM", 0xD1, 0x20, on(load_snoop_modified)),
    row("MEM_LOAD_UOPS_RETIRED.DRAM_HIT", 0xD1, 0x80, on(load_dram)),
};
inline constexpr std::array crestmont_load_sources{
    row("MEM_LOAD_UOPS_RETIRED.L1_HIT", 0xD1, 0x01, on(load_l1_hit)),
    row("MEM_LOAD_UOPS_RETIRED.L2_HIT", 0xD1, 0x02, on(load_l2_hit)),
    row("MEM_LOAD_UOPS_RETIRED.L3_HIT", 0xD1, 0x1C, on(load_l3_hit)),
    row("MEM_LOAD_UOPS_RETIRED.L1_MISS", 0xD1, 0x40, on(load_l1_miss)),
    row("MEM_LOAD_UOPS_RETIRED.L2_MISS", 0xD1, 0x80, on(load_l2_miss)),
};

inline constexpr std::array gracemont_latency_samples{
    row("MEM_UOPS_RETIRED.LOAD_LATENCY", 0xD0, 0x05, on(load_latency)),
    with_extra(4, row("MEM_UOPS_RETIRED.LOAD_LATENCY_GT_4", 0xD0, 0x05, on(load_latency))),
    with_extra(8, row("MEM_UOPS_RETIRED.LOAD_LATENCY_GT_8", 0xD0, 0x05, on(load_latency))),
    with_extra(16, row("MEM_UOPS_RETIRED.LOAD_LATENCY_GT_16", 0xD0, 0x05, on(load_latency))),
    with_extra(32, row("MEM_UOPS_RETIRED.LOAD_LATENCY_GT_32", 0xD0, 0x05, on(load_latency))),
    with_extra(64, row("MEM_UOPS_RETIRED.LOAD_LATENCY_GT_64", 0xD0, 0x05, on(load_latency))),
    with_extra(128, row("MEM_UOPS_RETIRED.LOAD_LATENCY_GT_128", 0xD0, 0x05, on(load_latency))),
    with_extra(256, row("MEM_UOPS_RETIRED.LOAD_LATENCY_GT_256", 0xD0, 0x05, on(load_latency))),
    with_extra(512, row("MEM_UOPS_RETIRED.LOAD_LATENCY_GT_512", 0xD0, 0x05, on(load_latency))),
    row("MEM_UOPS_RETIRED.STORE_LATENCY", 0xD0, 0x06, on(store_latency)),
};

/// The core translates 4 KiB pages only.
inline constexpr std::array goldmont_plus_walks{
    row("DTLB_LOAD_MISSES.WALK_COMPLETED_4K", 0x08, 0x02, sum(Q::page_walks_load)),
    row("DTLB_STORE_MISSES.WALK_COMPLETED_4K", 0x49, 0x02, sum(Q::page_walks_store)),
    row("ITLB_MISSES.WALK_COMPLETED_4K", 0x85, 0x02, sum(Q::page_walks_instruction)),
};

inline constexpr std::array atom_resteers{
    row("BACLEARS.ANY", 0xE6, 0x01, on(front_end_resteer)),
};

inline constexpr std::array atom_machine_clears{
    row("MACHINE_CLEARS.SMC", 0xC3, 0x01, on(self_modifying_clear)),
    row("MACHINE_CLEARS.MEMORY_ORDERING", 0xC3, 0x02, on(memory_ordering_clear)),
};

/// Issue slots by reason, before they became architectural with Skymont.
inline constexpr std::array tremont_slots{
    row("TOPDOWN_FE_BOUND.ALL", 0x71, 0x00, sum(Q::slots_frontend)),
    row("TOPDOWN_BE_BOUND.ALL", 0x74, 0x00, sum(Q::slots_backend)),
    row("TOPDOWN_BAD_SPECULATION.MISPREDICT", 0x73, 0x04, sum(Q::slots_branch_mispredict)),
    row("UOPS_RETIRED.ALL", 0xC2, 0x00, sum(Q::uops)),
};

inline constexpr std::array tremont_memory_stalls{
    row("MEM_BOUND_STALLS.LOAD", 0x34, 0x07, sum(Q::stall_cycles_l1_miss)),
    row("MEM_BOUND_STALLS.LOAD_L2_HIT", 0x34, 0x01,
        sum_but_not(Q::stall_cycles_l1_miss, Q::stall_cycles_l2_miss)),
    row("MEM_BOUND_STALLS.LOAD_LLC_HIT", 0x34, 0x02,
        sum_but_not(Q::stall_cycles_l2_miss, Q::stall_cycles_l3_miss)),
    row("MEM_BOUND_STALLS.LOAD_DRAM_HIT", 0x34, 0x04, sum(Q::stall_cycles_l3_miss)),
};
/// The names before.
inline constexpr std::array tremont_old_memory_stalls{
    row("C0_STALLS.LOAD_L2_HIT", 0x34, 0x01, sum_but_not(Q::stall_cycles_l1_miss, Q::stall_cycles_l2_miss)),
    row("C0_STALLS.LOAD_LLC_HIT", 0x34, 0x02, sum_but_not(Q::stall_cycles_l2_miss, Q::stall_cycles_l3_miss)),
};

/// Walks under way, summed up over cycles: one walks at a time.
inline constexpr std::array atom_walks_pending{
    row("DTLB_LOAD_MISSES.WALK_PENDING", 0x08, 0x10, sum(Q::page_walk_cycles_load)),
    row("DTLB_STORE_MISSES.WALK_PENDING", 0x49, 0x10, sum(Q::page_walk_cycles_store)),
    row("ITLB_MISSES.WALK_PENDING", 0x85, 0x10, sum(Q::page_walk_cycles_instruction)),
};

inline constexpr std::array atom_direct_resteers{
    row("BACLEARS.COND", 0xE6, 0x10, on_all({front_end_resteer, conditional})),
    row("BACLEARS.UNCOND", 0xE6, 0x04, {.all = {front_end_resteer}, .any = {direct_jump, direct_call}}),
};

inline constexpr auto tremont_off_core = off_core(0xB7, {0x10001, 0x3F04000001, 0x10002, 0x3F04000002});

}  // namespace pmusim::event_rows

#endif
