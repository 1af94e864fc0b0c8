// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_CORE_EVENTS_H
#define PMUSIM_SRC_CPU_CORES_CORE_EVENTS_H

#include "event_rows.h"

/// Groups of events that kept their encoding over several generations of the Core line. Each is named after
/// the first microarchitecture that has it in this form.
namespace pmusim::event_rows {

/// Fixed counters 0 to 2. Event 00 exists on fixed counters only.
inline constexpr std::array fixed_three{
    row("INST_RETIRED.ANY", 0x00, 0x01, on(instruction)),
    row("CPU_CLK_UNHALTED.THREAD", 0x00, 0x02, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.REF_TSC", 0x00, 0x03, sum(Q::reference_cycles)),
};

/// The architectural events under their manual's names, which libpfm4 has on every PMU.
inline constexpr std::array architectural_names{
    row("UNHALTED_CORE_CYCLES", 0x3C, 0x00, sum(Q::cycles)),
    row("INSTRUCTION_RETIRED", 0xC0, 0x00, on(instruction)),
    row("LLC_REFERENCES", 0x2E, 0x4F, sum(Q::llc_references)),
    row("LLC_MISSES", 0x2E, 0x41, sum(Q::llc_misses)),
    row("BRANCH_INSTRUCTIONS_RETIRED", 0xC4, 0x00, on(branch)),
};
inline constexpr std::array architectural_mispredicts{
    row("MISPREDICTED_BRANCH_RETIRED", 0xC5, 0x00, on(mispredicted)),
};

/// Instructions and clocks. The model tells at which rate 3C.01 ticks.
inline constexpr std::array haswell_clocks{
    row("INST_RETIRED.ANY_P", 0xC0, 0x00, on(instruction)),
    row("CPU_CLK_UNHALTED.THREAD_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.REF_XCLK", 0x3C, 0x01, sum(Q::reference_cycles)),
};

/// Precisely distributed samples, on GP counter 1 only; Ice Lake moved them to fixed counter 0.
inline constexpr std::array precise_distribution{
    row("INST_RETIRED.PREC_DIST", 0xC0, 0x01, on(instruction)),
};

inline constexpr std::array architectural_cache{
    row("LONGEST_LAT_CACHE.REFERENCE", 0x2E, 0x4F, sum(Q::llc_references)),
    row("LONGEST_LAT_CACHE.MISS", 0x2E, 0x41, sum(Q::llc_misses)),
};

/// Branches as Sandy Bridge named them; Ice Lake gave conditional branches new umasks.
inline constexpr std::array sandy_bridge_branches{
    row("BR_INST_RETIRED.ALL_BRANCHES", 0xC4, 0x00, on(branch)),
    row("BR_INST_RETIRED.CONDITIONAL", 0xC4, 0x01, on(conditional)),
    row("BR_INST_RETIRED.NEAR_CALL", 0xC4, 0x02, on(near_call)),
    row("BR_INST_RETIRED.NEAR_RETURN", 0xC4, 0x08, on(near_return)),
    row("BR_INST_RETIRED.NOT_TAKEN", 0xC4, 0x10, on(conditional_not_taken)),
    row("BR_INST_RETIRED.NEAR_TAKEN", 0xC4, 0x20, on(near_taken)),
    row("BR_INST_RETIRED.FAR_BRANCH", 0xC4, 0x40, on(far_branch)),
    row("BR_MISP_RETIRED.ALL_BRANCHES", 0xC5, 0x00, on(mispredicted)),
    row("BR_MISP_RETIRED.CONDITIONAL", 0xC5, 0x01, on(mispredicted_conditional)),
    row("BR_MISP_RETIRED.NEAR_TAKEN", 0xC5, 0x20, on(mispredicted_near_taken)),
};

/// The form of "all branches" that Sandy Bridge wanted for PEBS; perf's BPU names still use it on Golden
/// Cove.
inline constexpr std::array precise_branches{
    row("BR_INST_RETIRED.ALL_BRANCHES_PEBS", 0xC4, 0x04, on(branch)),
    row("BR_MISP_RETIRED.ALL_BRANCHES_PEBS", 0xC5, 0x04, on(mispredicted)),
};

inline constexpr std::array mispredicted_returns{
    row("BR_MISP_RETIRED.RET", 0xC5, 0x08, on(mispredicted_return)),
};

inline constexpr std::array ice_lake_branches{
    row("BR_INST_RETIRED.ALL_BRANCHES", 0xC4, 0x00, on(branch)),
    row("BR_INST_RETIRED.COND_TAKEN", 0xC4, 0x01, on(conditional_taken)),
    row("BR_INST_RETIRED.NEAR_CALL", 0xC4, 0x02, on(near_call)),
    row("BR_INST_RETIRED.NEAR_RETURN", 0xC4, 0x08, on(near_return)),
    row("BR_INST_RETIRED.COND_NTAKEN", 0xC4, 0x10, on(conditional_not_taken)),
    row("BR_INST_RETIRED.COND", 0xC4, 0x11, on(conditional)),
    row("BR_INST_RETIRED.NEAR_TAKEN", 0xC4, 0x20, on(near_taken)),
    row("BR_INST_RETIRED.FAR_BRANCH", 0xC4, 0x40, on(far_branch)),
    row("BR_INST_RETIRED.INDIRECT", 0xC4, 0x80, on(indirect)),
    row("BR_MISP_RETIRED.ALL_BRANCHES", 0xC5, 0x00, on(mispredicted)),
    row("BR_MISP_RETIRED.COND_TAKEN", 0xC5, 0x01, on(mispredicted_conditional_taken)),
    row("BR_MISP_RETIRED.INDIRECT_CALL", 0xC5, 0x02, on(mispredicted_indirect_call)),
    row("BR_MISP_RETIRED.COND_NTAKEN", 0xC5, 0x10, on(mispredicted_conditional_not_taken)),
    row("BR_MISP_RETIRED.COND", 0xC5, 0x11, on(mispredicted_conditional)),
    row("BR_MISP_RETIRED.NEAR_TAKEN", 0xC5, 0x20, on(mispredicted_near_taken)),
    row("BR_MISP_RETIRED.INDIRECT", 0xC5, 0x80, on(mispredicted_indirect)),
};

/// Memory events before Skylake count uops; this core retires one load or store uop per instruction that has
/// one.
inline constexpr std::array sandy_bridge_memory_uops{
    row("MEM_UOPS_RETIRED.STLB_MISS_LOADS", 0xD0, 0x11, on(load_stlb_miss)),
    row("MEM_UOPS_RETIRED.STLB_MISS_STORES", 0xD0, 0x12, on(store_stlb_miss)),
    row("MEM_UOPS_RETIRED.LOCK_LOADS", 0xD0, 0x21, {.all = {load, locked}}),
    row("MEM_UOPS_RETIRED.SPLIT_LOADS", 0xD0, 0x41, on(split_load)),
    row("MEM_UOPS_RETIRED.SPLIT_STORES", 0xD0, 0x42, on(split_store)),
    row("MEM_UOPS_RETIRED.ALL_LOADS", 0xD0, 0x81, on(load)),
    row("MEM_UOPS_RETIRED.ALL_STORES", 0xD0, 0x82, on(store)),
    row("MEM_LOAD_UOPS_RETIRED.L1_HIT", 0xD1, 0x01, on(load_l1_hit)),
    row("MEM_LOAD_UOPS_RETIRED.L2_HIT", 0xD1, 0x02, on(load_l2_hit)),
    row("MEM_LOAD_UOPS_RETIRED.L3_HIT", 0xD1, 0x04, on(load_l3_hit)),
    row("MEM_LOAD_UOPS_RETIRED.HIT_LFB", 0xD1, 0x40, on(load_fb_hit)),
};
inline constexpr std::array ivy_bridge_load_misses{
    row("MEM_LOAD_UOPS_RETIRED.L1_MISS", 0xD1, 0x08, on(load_l1_miss)),
    row("MEM_LOAD_UOPS_RETIRED.L2_MISS", 0xD1, 0x10, on(load_l2_miss)),
    row("MEM_LOAD_UOPS_RETIRED.L3_MISS", 0xD1, 0x20, on(load_l3_miss)),
};

inline constexpr std::array skylake_memory_instructions{
    row("MEM_INST_RETIRED.STLB_MISS_LOADS", 0xD0, 0x11, on(load_stlb_miss)),
    row("MEM_INST_RETIRED.STLB_MISS_STORES", 0xD0, 0x12, on(store_stlb_miss)),
    row("MEM_INST_RETIRED.LOCK_LOADS", 0xD0, 0x21, {.all = {load, locked}}),
    row("MEM_INST_RETIRED.SPLIT_LOADS", 0xD0, 0x41, on(split_load)),
    row("MEM_INST_RETIRED.SPLIT_STORES", 0xD0, 0x42, on(split_store)),
    row("MEM_INST_RETIRED.ALL_LOADS", 0xD0, 0x81, on(load)),
    row("MEM_INST_RETIRED.ALL_STORES", 0xD0, 0x82, on(store)),
    row("MEM_INST_RETIRED.ANY", 0xD0, 0x83, on_any({load, store})),
};

/// Where retired loads found their data. Memory is the local one.
inline constexpr std::array skylake_load_sources{
    row("MEM_LOAD_RETIRED.L1_HIT", 0xD1, 0x01, on(load_l1_hit)),
    row("MEM_LOAD_RETIRED.L2_HIT", 0xD1, 0x02, on(load_l2_hit)),
    row("MEM_LOAD_RETIRED.L3_HIT", 0xD1, 0x04, on(load_l3_hit)),
    row("MEM_LOAD_RETIRED.L1_MISS", 0xD1, 0x08, on(load_l1_miss)),
    row("MEM_LOAD_RETIRED.L2_MISS", 0xD1, 0x10, on(load_l2_miss)),
    row("MEM_LOAD_RETIRED.L3_MISS", 0xD1, 0x20, on(load_l3_miss)),
    row("MEM_LOAD_RETIRED.FB_HIT", 0xD1, 0x40, on(load_fb_hit)),
};

inline constexpr std::array local_memory_loads{
    row("MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", 0xD3, 0x01, on(load_dram)),
};

inline constexpr std::array load_latency_samples{
    row("MEM_TRANS_RETIRED.LOAD_LATENCY", 0xCD, 0x01, on(load_latency)),
    with_extra(4, row("MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", 0xCD, 0x01, on(load_latency))),
    with_extra(8, row("MEM_TRANS_RETIRED.LOAD_LATENCY_GT_8", 0xCD, 0x01, on(load_latency))),
    with_extra(16, row("MEM_TRANS_RETIRED.LOAD_LATENCY_GT_16", 0xCD, 0x01, on(load_latency))),
    with_extra(32, row("MEM_TRANS_RETIRED.LOAD_LATENCY_GT_32", 0xCD, 0x01, on(load_latency))),
    with_extra(64, row("MEM_TRANS_RETIRED.LOAD_LATENCY_GT_64", 0xCD, 0x01, on(load_latency))),
    with_extra(128, row("MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128", 0xCD, 0x01, on(load_latency))),
    with_extra(256, row("MEM_TRANS_RETIRED.LOAD_LATENCY_GT_256", 0xCD, 0x01, on(load_latency))),
    with_extra(512, row("MEM_TRANS_RETIRED.LOAD_LATENCY_GT_512", 0xCD, 0x01, on(load_latency))),
};

/// FRONTEND_RETIRED selects through MSR 3F7; the umask changed with Redwood Cove.
constexpr auto front_end_retired(u8 umask) {
  return std::array{
      with_extra(0x12, row("FRONTEND_RETIRED.L1I_MISS", 0xC6, umask, on(l1i_miss))),
      with_extra(0x13, row("FRONTEND_RETIRED.L2_MISS", 0xC6, umask, on(l2i_miss))),
      with_extra(0x14, row("FRONTEND_RETIRED.ITLB_MISS", 0xC6, umask, on(itlb_miss))),
      with_extra(0x15, row("FRONTEND_RETIRED.STLB_MISS", 0xC6, umask, on(stlb_instruction_miss))),
  };
}

/// Values of OFFCORE_RSP for demand data reads and reads for ownership: all of them, and those that miss L3.
struct OffCoreValues {
  u64 read, read_miss, own, own_miss;
};
/// Demand requests that leave the core, selected through MSR 1A6.
constexpr auto off_core(u16 event, OffCoreValues values) {
  return std::array{
      with_extra(values.read, row("OCR.DEMAND_DATA_RD.ANY_RESPONSE", event, 0x01, on(load_l2_miss))),
      with_extra(values.read_miss, row("OCR.DEMAND_DATA_RD.L3_MISS", event, 0x01, on(load_l3_miss))),
      with_extra(values.own, row("OCR.DEMAND_RFO.ANY_RESPONSE", event, 0x01, on(store_l2_miss))),
      with_extra(values.own_miss, row("OCR.DEMAND_RFO.L3_MISS", event, 0x01, on(store_l3_miss))),
  };
}

/// What perf's LL events write into the OMR registers of Panther Cove, Coyote Cove and Arctic Wolf.
inline constexpr OffCoreValues omr_values{0x4000'0000'0000'0001, 0x00FF'FFF0'0000'0001, 0x4000'0000'0000'0002,
                                          0x00FF'FFF0'0000'0002};

/// The core runs no wrong path. Data reads are those of L1's prefetcher and of page walks, too, as in
/// hardware.
inline constexpr std::array haswell_l2{
    row("L2_RQSTS.DEMAND_DATA_RD_MISS", 0x24, 0x21, sum(Q::l2_data_read_misses)),
    row("L2_RQSTS.RFO_MISS", 0x24, 0x22, sum(Q::l2_ownership_read_misses)),
    row("L2_RQSTS.CODE_RD_MISS", 0x24, 0x24, sum(Q::l2_code_read_misses)),
    row("L2_RQSTS.ALL_DEMAND_MISS", 0x24, 0x27, sum(Q::l2_misses)),
    row("L2_RQSTS.MISS", 0x24, 0x3F, sum_of({Q::l2_misses, Q::l2_prefetch_misses})),
    row("L2_RQSTS.ALL_DEMAND_DATA_RD", 0x24, 0xE1, sum(Q::l2_data_reads)),
    row("L2_RQSTS.ALL_RFO", 0x24, 0xE2, sum(Q::l2_ownership_reads)),
    row("L2_RQSTS.ALL_CODE_RD", 0x24, 0xE4, sum(Q::l2_code_reads)),
    row("L2_RQSTS.ALL_DEMAND_REFERENCES", 0x24, 0xE7, sum(Q::l2_requests)),
    row("L2_RQSTS.REFERENCES", 0x24, 0xFF, sum_of({Q::l2_requests, Q::l2_prefetches})),
};

inline constexpr std::array skylake_l2_hits{
    row("L2_RQSTS.DEMAND_DATA_RD_HIT", 0x24, 0xC1, sum_but_not(Q::l2_data_reads, Q::l2_data_read_misses)),
    row("L2_RQSTS.RFO_HIT", 0x24, 0xC2, sum_but_not(Q::l2_ownership_reads, Q::l2_ownership_read_misses)),
    row("L2_RQSTS.CODE_RD_HIT", 0x24, 0xC4, sum_but_not(Q::l2_code_reads, Q::l2_code_read_misses)),
};

/// L2 hits had other umasks before Skylake.
inline constexpr std::array haswell_l2_hits{
    row("L2_RQSTS.DEMAND_DATA_RD_HIT", 0x24, 0x41, sum_but_not(Q::l2_data_reads, Q::l2_data_read_misses)),
    row("L2_RQSTS.RFO_HIT", 0x24, 0x42, sum_but_not(Q::l2_ownership_reads, Q::l2_ownership_read_misses)),
    row("L2_RQSTS.CODE_RD_HIT", 0x24, 0x44, sum_but_not(Q::l2_code_reads, Q::l2_code_read_misses)),
};

inline constexpr std::array l1d_replacement{
    row("L1D.REPLACEMENT", 0x51, 0x01, sum(Q::l1d_replacements)),
};

inline constexpr std::array sandy_bridge_prefetches{
    row("L2_RQSTS.PF_MISS", 0x24, 0x80, sum(Q::l2_prefetch_misses)),
    row("L2_RQSTS.ALL_PF", 0x24, 0xC0, sum(Q::l2_prefetches)),
};
inline constexpr std::array haswell_prefetches{
    row("L2_RQSTS.PF_MISS", 0x24, 0x38, sum(Q::l2_prefetch_misses)),
    row("L2_RQSTS.ALL_PF", 0x24, 0xF8, sum(Q::l2_prefetches)),
};
inline constexpr std::array sandy_bridge_prefetch_hits{
    row("LOAD_HIT_PRE.HW_PF", 0x4C, 0x02, on(load_hit_hw_prefetch)),
};
inline constexpr std::array haswell_l2_lines{
    row("L2_LINES_IN.ALL", 0xF1, 0x07, sum(Q::l2_lines_in)),
};
inline constexpr std::array skylake_l2_lines{
    row("L2_LINES_IN.ALL", 0xF1, 0x1F, sum(Q::l2_lines_in)),
};

/// Loads that meet older stores.
inline constexpr std::array sandy_bridge_load_blocks{
    row("LD_BLOCKS.STORE_FORWARD", 0x03, 0x02, on(store_forward_blocked)),
    row("LD_BLOCKS_PARTIAL.ADDRESS_ALIAS", 0x07, 0x01, on(address_alias)),
};
inline constexpr std::array goldmont_load_blocks{
    row("LD_BLOCKS.STORE_FORWARD", 0x03, 0x02, on(store_forward_blocked)),
    row("LD_BLOCKS.4K_ALIAS", 0x03, 0x04, on(address_alias)),
};

/// Requests of the program that leave the core.
inline constexpr std::array sandy_bridge_off_core_requests{
    row("OFFCORE_REQUESTS.DEMAND_DATA_RD", 0xB0, 0x01, on(load_l2_miss)),
    row("OFFCORE_REQUESTS.DEMAND_CODE_RD", 0xB0, 0x02, on(l2i_miss)),
    row("OFFCORE_REQUESTS.DEMAND_RFO", 0xB0, 0x04, on(store_l2_miss)),
};
inline constexpr std::array skylake_off_core_requests{
    row("OFFCORE_REQUESTS.L3_MISS_DEMAND_DATA_RD", 0xB0, 0x10, on(load_l3_miss)),
    row("OFFCORE_REQUESTS.ALL_REQUESTS", 0xB0, 0x80, sum(Q::llc_references)),
};
/// What other cores said of them. From Ice Lake on a clean line that its owner sent counts with modified
/// ones.
inline constexpr std::array skylake_snoops{
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_MISS", 0xD2, 0x01, on(load_snoop_miss)),
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_HIT", 0xD2, 0x02, on_any({load_snoop_hit, load_snoop_forward})),
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM", 0xD2, 0x04, on(load_snoop_modified)),
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_NONE", 0xD2, 0x08, on_unshared_l3_hit()),
};
inline constexpr std::array ice_lake_snoops{
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_MISS", 0xD2, 0x01, on(load_snoop_miss)),
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_NO_FWD", 0xD2, 0x02, on(load_snoop_hit)),
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_FWD", 0xD2, 0x04, on_any({load_snoop_forward, load_snoop_modified})),
    row("MEM_LOAD_L3_HIT_RETIRED.XSNP_NONE", 0xD2, 0x08, on_unshared_l3_hit()),
};
/// Of products that stand beside others on a board.
inline constexpr std::array remote_loads{
    row("MEM_LOAD_L3_MISS_RETIRED.REMOTE_HITM", 0xD3, 0x04, on(load_remote_modified)),
    row("MEM_LOAD_L3_MISS_RETIRED.REMOTE_FWD", 0xD3, 0x08, on(load_remote_forward)),
};

/// All pages are 4 KiB, and no walk is given up.
inline constexpr std::array skylake_walks{
    row("DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK", 0x08, 0x01, sum(Q::page_walks_load)),
    row("DTLB_STORE_MISSES.MISS_CAUSES_A_WALK", 0x49, 0x01, sum(Q::page_walks_store)),
    row("ITLB_MISSES.MISS_CAUSES_A_WALK", 0x85, 0x01, sum(Q::page_walks_instruction)),
};
inline constexpr std::array haswell_small_page_walks{
    row("DTLB_LOAD_MISSES.WALK_COMPLETED_4K", 0x08, 0x02, sum(Q::page_walks_load)),
    row("DTLB_STORE_MISSES.WALK_COMPLETED_4K", 0x49, 0x02, sum(Q::page_walks_store)),
    row("ITLB_MISSES.WALK_COMPLETED_4K", 0x85, 0x02, sum(Q::page_walks_instruction)),
};

inline constexpr std::array skylake_pauses{
    row("ROB_MISC_EVENTS.PAUSE_INST", 0xCC, 0x40, on(pause)),
};
inline constexpr std::array ice_lake_pauses{
    row("MISC_RETIRED.PAUSE_INST", 0xCC, 0x40, on(pause)),
};

inline constexpr std::array skylake_tlb{
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x08, 0x0E, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x08, 0x20, on_but_not(load_dtlb_miss, load_stlb_miss)),
    row("DTLB_STORE_MISSES.WALK_COMPLETED", 0x49, 0x0E, sum(Q::page_walks_store)),
    row("DTLB_STORE_MISSES.STLB_HIT", 0x49, 0x20, on_but_not(store_dtlb_miss, store_stlb_miss)),
    row("ITLB_MISSES.WALK_COMPLETED", 0x85, 0x0E, sum(Q::page_walks_instruction)),
    row("ITLB_MISSES.STLB_HIT", 0x85, 0x20, on_but_not(itlb_miss, stlb_instruction_miss)),
};

inline constexpr std::array nehalem_icache{
    row("ICACHE.MISSES", 0x80, 0x02, on(l1i_miss)),
};
inline constexpr std::array skylake_icache{
    row("ICACHE_64B.IFTAG_MISS", 0x83, 0x02, on(l1i_miss)),
};

inline constexpr std::array resteers{
    row("BACLEARS.ANY", 0xE6, 0x01, on(front_end_resteer)),
};

inline constexpr std::array skylake_machine_clears{
    begins(row("MACHINE_CLEARS.COUNT", 0xC3, 0x01, on(machine_clear))),
    row("MACHINE_CLEARS.MEMORY_ORDERING", 0xC3, 0x02, on(memory_ordering_clear)),
    row("MACHINE_CLEARS.SMC", 0xC3, 0x04, on(self_modifying_clear)),
};

inline constexpr std::array sandy_bridge_recovery{
    at_least(1, row("INT_MISC.RECOVERY_CYCLES", 0x0D, 0x03, sum(Q::recovery_cycles))),
    begins(row("INT_MISC.RECOVERY_STALLS_COUNT", 0x0D, 0x03, sum(Q::recovery_cycles))),
};
inline constexpr std::array skylake_recovery{
    row("INT_MISC.RECOVERY_CYCLES", 0x0D, 0x01, sum(Q::recovery_cycles)),
};

/// CMASK in these names selects cycles in which all conditions of the umask hold.
inline constexpr std::array skylake_stalls{
    at_least(4, row("CYCLE_ACTIVITY.STALLS_TOTAL", 0xA3, 0x04, sum(Q::cycles_executing_none, 4))),
    at_least(5, row("CYCLE_ACTIVITY.STALLS_L2_MISS", 0xA3, 0x05, sum(Q::cycles_stalled_l2_misses, 5))),
    at_least(6, row("CYCLE_ACTIVITY.STALLS_L3_MISS", 0xA3, 0x06, sum(Q::cycles_stalled_l3_misses, 6))),
    at_least(12, row("CYCLE_ACTIVITY.STALLS_L1D_MISS", 0xA3, 0x0C, sum(Q::cycles_stalled_l1d_misses, 12))),
    at_least(20, row("CYCLE_ACTIVITY.STALLS_MEM_ANY", 0xA3, 0x14, sum(Q::cycles_stalled_loads, 20))),
};

inline constexpr std::array sandy_bridge_uops{
    row("UOPS_RETIRED.ALL", 0xC2, 0x01, sum(Q::uops)),
    row("UOPS_RETIRED.RETIRE_SLOTS", 0xC2, 0x02, sum(Q::uops)),
    fewer_than(1, row("UOPS_RETIRED.STALL_CYCLES", 0xC2, 0x01, sum(Q::uops))),
    fewer_than(10, row("UOPS_RETIRED.TOTAL_CYCLES", 0xC2, 0x01, sum(Q::uops))),
};
inline constexpr std::array uops_retired_slots{
    row("UOPS_RETIRED.SLOTS", 0xC2, 0x02, sum(Q::uops)),
    fewer_than(1, row("UOPS_RETIRED.STALL_CYCLES", 0xC2, 0x02, sum(Q::uops))),
    fewer_than(10, row("UOPS_RETIRED.TOTAL_CYCLES", 0xC2, 0x02, sum(Q::uops))),
};

inline constexpr std::array sandy_bridge_lbr_inserts{
    row("ROB_MISC_EVENTS.LBR_INSERTS", 0xCC, 0x20, on(lbr_insert)),
};
inline constexpr std::array ice_lake_lbr_inserts{
    row("MISC_RETIRED.LBR_INSERTS", 0xCC, 0x20, on(lbr_insert)),
};
/// From Lion Cove and Crestmont on; an architectural event since perfmon version 6.
inline constexpr std::array architectural_lbr_inserts{
    row("MISC_RETIRED.LBR_INSERTS", 0xE4, 0x01, on(lbr_insert)),
};

inline constexpr std::array slots_not_delivered{
    row("IDQ_UOPS_NOT_DELIVERED.CORE", 0x9C, 0x01, sum(Q::slots_frontend)),
};

inline constexpr std::array haswell_transactions{
    row("RTM_RETIRED.START", 0xC9, 0x01, on(tx_start)),
    row("RTM_RETIRED.COMMIT", 0xC9, 0x02, on(tx_commit)),
    row("RTM_RETIRED.ABORTED", 0xC9, 0x04, on(tx_abort)),
};

inline constexpr std::array broadwell_fp_arithmetic{
    row("FP_ARITH_INST_RETIRED.SCALAR_DOUBLE", 0xC7, 0x01, on(fp_scalar_double)),
    row("FP_ARITH_INST_RETIRED.SCALAR_SINGLE", 0xC7, 0x02, on(fp_scalar_single)),
    row("FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE", 0xC7, 0x04, on(fp_packed_128_double)),
    row("FP_ARITH_INST_RETIRED.128B_PACKED_SINGLE", 0xC7, 0x08, on(fp_packed_128_single)),
    row("FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE", 0xC7, 0x10, on(fp_packed_256_double)),
    row("FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE", 0xC7, 0x20, on(fp_packed_256_single)),
    row("FP_ARITH_INST_RETIRED.SCALAR", 0xC7, 0x03, on_any({fp_scalar_double, fp_scalar_single})),
};

inline constexpr std::array skylake_x_fp_arithmetic{
    row("FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE", 0xC7, 0x40, on(fp_packed_512_double)),
    row("FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE", 0xC7, 0x80, on(fp_packed_512_single)),
    row("FP_ARITH_INST_RETIRED.4_FLOPS", 0xC7, 0x18, on_any({fp_packed_128_single, fp_packed_256_double})),
    row("FP_ARITH_INST_RETIRED.8_FLOPS", 0xC7, 0x60, on_any({fp_packed_256_single, fp_packed_512_double})),
    row("FP_ARITH_INST_RETIRED.VECTOR", 0xC7, 0xFC,
        on_any({fp_packed_128_double, fp_packed_128_single, fp_packed_256_double, fp_packed_256_single,
                fp_packed_512_double, fp_packed_512_single})),
};

}  // namespace pmusim::event_rows

#endif
