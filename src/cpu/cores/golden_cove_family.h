// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_GOLDEN_COVE_FAMILY_H
#define PMUSIM_SRC_CPU_CORES_GOLDEN_COVE_FAMILY_H

#include "cache_events.h"
#include "core_events.h"
#include "newer_events.h"

/// What Golden Cove and its successors share. Encodings of Redwood Cove and later: the vendor's published
/// event lists.
namespace pmusim::event_rows {

inline constexpr std::array golden_cove_clocks{
    row("INST_RETIRED.PREC_DIST", 0x00, 0x01, on(instruction)),
    row("INST_RETIRED.ANY_P", 0xC0, 0x00, on(instruction)),
    row("INST_RETIRED.NOP", 0xC0, 0x02, on(nop)),
    row("CPU_CLK_UNHALTED.THREAD_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.REF_TSC_P", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("CPU_CLK_UNHALTED.DISTRIBUTED", 0xEC, 0x02, sum(Q::cycles)),
    row("TOPDOWN.SLOTS", 0x00, 0x04, sum(Q::slots)),
    row("TOPDOWN.SLOTS_P", 0xA4, 0x01, sum(Q::slots)),
    row("TOPDOWN.BACKEND_BOUND_SLOTS", 0xA4, 0x02, sum(Q::slots_backend)),
    row("TOPDOWN.BAD_SPEC_SLOTS", 0xA4, 0x04, sum(Q::slots_bad_speculation)),
    row("TOPDOWN.BR_MISPREDICT_SLOTS", 0xA4, 0x08, sum(Q::slots_branch_mispredict)),
    row("TOPDOWN.MEMORY_BOUND_SLOTS", 0xA4, 0x10, sum(Q::slots_memory)),
};

inline constexpr std::array golden_cove_memory{
    row("OFFCORE_REQUESTS.DEMAND_DATA_RD", 0x21, 0x01, on(load_l2_miss)),
    row("OFFCORE_REQUESTS.ALL_REQUESTS", 0x21, 0x80, sum(Q::llc_references)),
    row("DTLB_LOAD_MISSES.WALK_COMPLETED_4K", 0x12, 0x02, sum(Q::page_walks_load)),
    row("DTLB_STORE_MISSES.WALK_COMPLETED_4K", 0x13, 0x02, sum(Q::page_walks_store)),
    row("ITLB_MISSES.WALK_COMPLETED_4K", 0x11, 0x02, sum(Q::page_walks_instruction)),
    row("LD_BLOCKS.ADDRESS_ALIAS", 0x03, 0x04, on(address_alias)),
    row("LD_BLOCKS.STORE_FORWARD", 0x03, 0x82, on(store_forward_blocked)),
    row("MEM_TRANS_RETIRED.STORE_SAMPLE", 0xCD, 0x02, on(store_latency)),
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x12, 0x0E, sum(Q::page_walks_load)),
    row("DTLB_STORE_MISSES.WALK_COMPLETED", 0x13, 0x0E, sum(Q::page_walks_store)),
    row("ITLB_MISSES.WALK_COMPLETED", 0x11, 0x0E, sum(Q::page_walks_instruction)),
    at_least(3, row("MEMORY_ACTIVITY.STALLS_L1D_MISS", 0x47, 0x03, sum(Q::cycles_stalled_l1d_misses, 3))),
    at_least(5, row("MEMORY_ACTIVITY.STALLS_L2_MISS", 0x47, 0x05, sum(Q::cycles_stalled_l2_misses, 5))),
    at_least(4, row("CYCLE_ACTIVITY.STALLS_TOTAL", 0xA3, 0x04, sum(Q::cycles_executing_none, 4))),
};
inline constexpr std::array golden_cove_fusion{
    row("INST_RETIRED.MACRO_FUSED", 0xC0, 0x10, on_fused_pair()),
};
/// From Golden Cove to Panther Cove.
inline constexpr std::array golden_cove_lines{
    row("L2_LINES_IN.ALL", 0x25, 0x1F, sum(Q::l2_lines_in)),
    at_least(9, row("MEMORY_ACTIVITY.STALLS_L3_MISS", 0x47, 0x09, sum(Q::cycles_stalled_l3_misses, 9))),
};
/// Lion Cove moved these behind UMASK2 bits that no reference gives.
inline constexpr std::array golden_cove_stlb_hits{
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x12, 0x20, on_but_not(load_dtlb_miss, load_stlb_miss)),
    row("DTLB_STORE_MISSES.STLB_HIT", 0x13, 0x20, on_but_not(store_dtlb_miss, store_stlb_miss)),
    row("ITLB_MISSES.STLB_HIT", 0x11, 0x20, on_but_not(itlb_miss, stlb_instruction_miss)),
};

inline constexpr std::array golden_cove_pipeline{
    row("UOPS_RETIRED.SLOTS", 0xC2, 0x02, sum(Q::uops)),
    at_least(1, row("UOPS_RETIRED.CYCLES", 0xC2, 0x02, sum(Q::uops))),
    fewer_than(1, row("UOPS_RETIRED.STALLS", 0xC2, 0x02, sum(Q::uops))),
    row("INT_MISC.RECOVERY_CYCLES", 0xAD, 0x01, sum(Q::recovery_cycles)),
    begins(row("INT_MISC.CLEARS_COUNT", 0xAD, 0x01, sum(Q::recovery_cycles))),
    row("INT_MISC.UOP_DROPPING", 0xAD, 0x10, never()),
};

constexpr auto golden_cove_common_with(const auto& branches) {
  return join(fixed_three, golden_cove_clocks, architectural_cache, branches, load_latency_samples,
              haswell_l2, golden_cove_memory, skylake_machine_clears, golden_cove_pipeline,
              slots_not_delivered, haswell_transactions, architectural_names, architectural_mispredicts);
}
inline constexpr auto golden_cove_common =
    golden_cove_common_with(join(precise_branches, mispredicted_returns));

inline constexpr auto golden_cove_off_core =
    off_core(0x2A, {0x10001, 0x3FBFC00001, 0x3F3FFC0002, 0x3F3FC00002});

inline constexpr auto before_lion_cove =
    join(golden_cove_common, golden_cove_fusion, golden_cove_lines, l1d_replacement, ice_lake_snoops,
         local_memory_loads, remote_loads, broadwell_fp_arithmetic, ice_lake_branches,
         skylake_memory_instructions, skylake_load_sources, golden_cove_stlb_hits, skylake_x_fp_arithmetic,
         ice_lake_lbr_inserts, golden_cove_off_core, skylake_l2_hits, golden_cove_requests);

/// Lion Cove tells forward from backward conditional branches; UMASK2 bit 0 asks for both.
inline constexpr std::array lion_cove_branches{
    row("BR_INST_RETIRED.ALL_BRANCHES", 0xC4, 0x00, on(branch)),
    row("BR_INST_RETIRED.COND_TAKEN", 0xC4, 0x101, on(conditional_taken)),
    row("BR_INST_RETIRED.NEAR_CALL", 0xC4, 0x02, on(near_call)),
    row("BR_INST_RETIRED.NEAR_RETURN", 0xC4, 0x08, on(near_return)),
    row("BR_INST_RETIRED.COND_NTAKEN", 0xC4, 0x10, on(conditional_not_taken)),
    row("BR_INST_RETIRED.COND", 0xC4, 0x111, on(conditional)),
    row("BR_INST_RETIRED.NEAR_TAKEN", 0xC4, 0x20, on(near_taken)),
    row("BR_INST_RETIRED.FAR_BRANCH", 0xC4, 0x40, on(far_branch)),
    row("BR_INST_RETIRED.INDIRECT", 0xC4, 0x80, on(indirect)),
    row("BR_MISP_RETIRED.ALL_BRANCHES", 0xC5, 0x00, on(mispredicted)),
    row("BR_MISP_RETIRED.COND_TAKEN", 0xC5, 0x101, on(mispredicted_conditional_taken)),
    row("BR_MISP_RETIRED.INDIRECT_CALL", 0xC5, 0x02, on(mispredicted_indirect_call)),
    row("BR_MISP_RETIRED.COND_NTAKEN", 0xC5, 0x10, on(mispredicted_conditional_not_taken)),
    row("BR_MISP_RETIRED.COND", 0xC5, 0x111, on(mispredicted_conditional)),
    row("BR_MISP_RETIRED.NEAR_TAKEN", 0xC5, 0x20, on(mispredicted_near_taken)),
    row("BR_MISP_RETIRED.INDIRECT", 0xC5, 0x80, on(mispredicted_indirect)),
};

inline constexpr std::array lion_cove_memory{
    row("MEM_INST_RETIRED.STLB_HIT_LOADS", 0xD0, 0x09, on_but_not(load_dtlb_miss, load_stlb_miss)),
    row("MEM_INST_RETIRED.STLB_HIT_STORES", 0xD0, 0x0A, on_but_not(store_dtlb_miss, store_stlb_miss)),
    row("MEM_INST_RETIRED.STLB_MISS_LOADS", 0xD0, 0x11, on(load_stlb_miss)),
    row("MEM_INST_RETIRED.STLB_MISS_STORES", 0xD0, 0x12, on(store_stlb_miss)),
    row("MEM_INST_RETIRED.LOCK_LOADS", 0xD0, 0x21, {.all = {load, locked}}),
    row("MEM_INST_RETIRED.SPLIT_LOADS", 0xD0, 0x41, on(split_load)),
    row("MEM_INST_RETIRED.SPLIT_STORES", 0xD0, 0x42, on(split_store)),
    row("MEM_INST_RETIRED.ALL_LOADS", 0xD0, 0x81, on(load)),
    row("MEM_INST_RETIRED.ALL_STORES", 0xD0, 0x82, on(store)),
    row("MEM_INST_RETIRED.ANY", 0xD0, 0x87, on_any({load, store})),
};
/// A core's first caches are L0 and L1; the core model has one of them, L0's.
inline constexpr std::array lion_cove_first_caches{
    row("L1D.L0_REPLACEMENT", 0x51, 0x01, sum(Q::l1d_replacements)),
    row("L1D.REPLACEMENT", 0x51, 0x05, sum(Q::l1d_replacements)),
};
/// Pairs with a branch; other pairs, which MACRO_FUSED has too, the core model does not fuse.
inline constexpr std::array lion_cove_fusion{
    row("INST_RETIRED.BR_FUSED", 0xC0, 0x10, on_fused_pair()),
    row("INST_RETIRED.MACRO_FUSED", 0xC0, 0x30, on_fused_pair()),
};
/// From Lion Cove to Panther Cove.
inline constexpr std::array lion_cove_loads{
    row("MEM_LOAD_RETIRED.L3_HIT", 0xD1, 0x04, on(load_l3_hit)),
    row("MEM_LOAD_RETIRED.L1_MISS", 0xD1, 0x08, on(load_l1_miss)),
    row("MEM_LOAD_RETIRED.FB_HIT", 0xD1, 0x40, on(load_fb_hit)),
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_MISS", 0xD2, 0x01, on(load_snoop_miss)),
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_NO_FWD", 0xD2, 0x02, on(load_snoop_hit)),
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM", 0xD2, 0x04, on(load_snoop_modified)),
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_NONE", 0xD2, 0x08, on_unshared_l3_hit()),
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_FWD", 0xD2, 0x10, on(load_snoop_forward)),
};

constexpr auto since_lion_cove_with(const auto& common, const auto& branches) {
  return join(common, branches, lion_cove_memory, lion_cove_first_caches, lion_cove_fusion,
              architectural_lbr_inserts, front_end_retired(0x03), lion_cove_l2_hits, lion_cove_pipeline,
              lion_cove_requests);
}
/// With what Coyote Cove has otherwise.
constexpr auto until_panther_cove_with(const auto& common, const auto& branches) {
  return join(since_lion_cove_with(common, branches), golden_cove_lines, lion_cove_loads, local_memory_loads,
              remote_loads, broadwell_fp_arithmetic, lion_cove_first_decoder);
}
inline constexpr auto until_panther_cove = until_panther_cove_with(golden_cove_common, lion_cove_branches);
inline constexpr auto cougar_cove_branches = join(darkmont_branches, cougar_cove_mispredicts);
inline constexpr auto common_without_branches = golden_cove_common_with(std::array<EventDefinition, 0>{});

/// FP_ARITH_INST_RETIRED is an event of its own beside FP_ARITH_OPS_RETIRED, which has the code of before.
inline constexpr std::array coyote_cove_own{
    row("L2_LINES_IN.ALL", 0x25, 0x3F, sum(Q::l2_lines_in)),
    row("MEMORY_ACTIVITY.STALLS_L3_MISS", 0x47, 0x48, sum(Q::cycles_stalled_l3_misses)),
    row("MEM_LOAD_RETIRED.L1_HIT", 0xD1, 0x06, on(load_l1_hit)),
    row("MEM_LOAD_RETIRED.FB_HIT", 0xD1, 0x08, on(load_fb_hit)),
    row("MEM_LOAD_RETIRED.L1_MISS", 0xD1, 0x10, on(load_l1_miss)),
    row("UOPS_DECODED.HEAVY_INST_UOPS", 0x76, 0x01, sum(Q::uops_first_decoder)),
    row("FP_ARITH_OPS_RETIRED.SCALAR_DOUBLE", 0xC7, 0x01, on(fp_scalar_double)),
    row("FP_ARITH_OPS_RETIRED.SCALAR_SINGLE", 0xC7, 0x02, on(fp_scalar_single)),
    row("FP_ARITH_OPS_RETIRED.128B_PACKED_DOUBLE", 0xC7, 0x04, on(fp_packed_128_double)),
    row("FP_ARITH_OPS_RETIRED.128B_PACKED_SINGLE", 0xC7, 0x08, on(fp_packed_128_single)),
    row("FP_ARITH_OPS_RETIRED.256B_PACKED_DOUBLE", 0xC7, 0x10, on(fp_packed_256_double)),
    row("FP_ARITH_OPS_RETIRED.256B_PACKED_SINGLE", 0xC7, 0x20, on(fp_packed_256_single)),
    row("FP_ARITH_OPS_RETIRED.512B_PACKED_DOUBLE", 0xC7, 0x40, on(fp_packed_512_double)),
    row("FP_ARITH_OPS_RETIRED.512B_PACKED_SINGLE", 0xC7, 0x80, on(fp_packed_512_single)),
    row("FP_ARITH_INST_RETIRED.SCALAR_DOUBLE", 0xC8, 0x01, on(fp_scalar_double)),
    row("FP_ARITH_INST_RETIRED.SCALAR_SINGLE", 0xC8, 0x02, on(fp_scalar_single)),
    row("FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE", 0xC8, 0x04, on(fp_packed_128_double)),
    row("FP_ARITH_INST_RETIRED.128B_PACKED_SINGLE", 0xC8, 0x08, on(fp_packed_128_single)),
    row("FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE", 0xC8, 0x10, on(fp_packed_256_double)),
    row("FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE", 0xC8, 0x20, on(fp_packed_256_single)),
    row("FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE", 0xC8, 0x40, on(fp_packed_512_double)),
    row("FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE", 0xC8, 0x80, on(fp_packed_512_single)),
};

/// Perf's cache events, but the last level's.
inline constexpr std::array golden_cove_near_cache{
    CacheEvent{l1d, read, access, 0x81D0},   CacheEvent{l1d, read, miss, 0xE124},
    CacheEvent{l1d, write, access, 0x82D0},  CacheEvent{l1i, read, miss, 0xE424},
    CacheEvent{dtlb, read, access, 0x81D0},  CacheEvent{dtlb, read, miss, 0x0E12},
    CacheEvent{dtlb, write, access, 0x82D0}, CacheEvent{dtlb, write, miss, 0x0E13},
    CacheEvent{itlb, read, miss, 0x0E11},    CacheEvent{bpu, read, access, 0x04C4},
    CacheEvent{bpu, read, miss, 0x04C5},
};
inline constexpr auto golden_cove_cache =
    join(golden_cove_near_cache, std::array{
                                     CacheEvent{ll, read, access, 0x012A, 0x10001},
                                     CacheEvent{ll, read, miss, 0x012A, 0x3FBFC00001},
                                     CacheEvent{ll, write, access, 0x012A, 0x3F3FFC0002},
                                     CacheEvent{ll, write, miss, 0x012A, 0x3F3FC00002},
                                 });

inline constexpr auto lion_cove_off_core =
    join(golden_cove_requests, lion_cove_sources,
         off_core(0x2A, {0x10001, 0x9E7FA000001, 0x10002, 0x9E7FA000002}));
inline constexpr auto lion_cove_events = join(until_panther_cove, lion_cove_decoders, lion_cove_off_core);
inline constexpr auto cougar_cove_events =
    join(until_panther_cove_with(common_without_branches, cougar_cove_branches), lion_cove_decoders,
         lion_cove_off_core);
/// Panther Cove and Coyote Cove: event 2A goes through the OMR registers there, whose codes are their own.
inline constexpr auto panther_cove_events = join(until_panther_cove, off_core(0x2A, omr_values));
inline constexpr auto coyote_cove_events =
    join(since_lion_cove_with(common_without_branches, cougar_cove_branches), coyote_cove_own,
         off_core(0x2A, omr_values));
inline constexpr auto panther_cove_cache = join(
    golden_cove_near_cache, last_level(0x012A, demand_last_level(any_omr_response, 0x00FF'FFF0'0000'0000)));
inline constexpr auto coyote_cove_cache = join(
    golden_cove_near_cache, last_level(0x012A, demand_last_level(any_omr_response, 0x00FF'03F0'0000'0000)));

/// Clients have no other package to be answered from.
inline constexpr LastLevelValues client_last_level = demand_last_level(any_response, 0x3F'BFC0'0000);
inline constexpr LastLevelValues lion_cove_last_level = demand_last_level(any_response, 0x9E7'FA00'0000);
inline constexpr auto cougar_cove_cache =
    join(golden_cove_near_cache, last_level(0x012A, lion_cove_last_level));

}  // namespace pmusim::event_rows

#endif
