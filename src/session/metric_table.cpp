// SPDX-License-Identifier: MIT
#include "session/metric_table.h"

#include <vector>

namespace pmusim {
namespace {

constexpr FormulaTerm all_formula_terms[] = {
    {"clks", "cycles"},
    {"insn", "instructions"},
    {"slots_total", "slots"},
    {"slots_total", "topdown-total-slots"},
    {"uops_retired", "UOPS_RETIRED.RETIRE_SLOTS"},
    {"uops_retired", "UOPS_RETIRED.SLOTS"},
    {"retired_slots", "tma_retiring * slots_total"},
    {"fp_scalar_ops", "FP_ARITH_INST_RETIRED.SCALAR_SINGLE + FP_ARITH_INST_RETIRED.SCALAR_DOUBLE"},
    {"fp_128_ops", "FP_ARITH_INST_RETIRED.128B_PACKED_SINGLE + FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE"},
    {"fp_256_ops", "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE + FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE"},
    {"fp_512_ops", "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE + FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE"},
    {"fp_vector_ops", "fp_128_ops + fp_256_ops + fp_512_ops"},
    {"fp_vector_ops", "fp_128_ops + fp_256_ops"},
    {"fp_ops_narrow",
     "fp_scalar_ops + 2 * FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE + 4 * "
     "(FP_ARITH_INST_RETIRED.128B_PACKED_SINGLE + FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE) + 8 * "
     "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE"},
    {"fp_ops",
     "fp_ops_narrow + 8 * FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE + 16 * "
     "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE"},
    {"fp_ops", "fp_ops_narrow"},
    {"mispredict_share",
     "BR_MISP_RETIRED.ALL_BRANCHES / (BR_MISP_RETIRED.ALL_BRANCHES + MACHINE_CLEARS.COUNT)"},
    {"buffer_hits_per_miss", "MEM_LOAD_RETIRED.FB_HIT / MEM_LOAD_RETIRED.L1_MISS"},
    {"load_overlap", "1 + buffer_hits_per_miss / 2"},
    {"l3_hit_weight",
     "MEM_LOAD_UOPS_RETIRED.L3_HIT / (MEM_LOAD_UOPS_RETIRED.L3_HIT + 7 * MEM_LOAD_UOPS_RETIRED.L3_MISS)"},
    {"l3_hit_weight",
     "MEM_LOAD_UOPS_RETIRED.LLC_HIT / (MEM_LOAD_UOPS_RETIRED.LLC_HIT + 7 * MEM_LOAD_UOPS_RETIRED.LLC_MISS)"},
    {"l3_hit_weight",
     "MEM_LOAD_UOPS_RETIRED.LLC_HIT / (MEM_LOAD_UOPS_RETIRED.LLC_HIT + 7 * "
     "MEM_LOAD_UOPS_MISC_RETIRED.LLC_MISS)"},
    {"stalls_any", "CYCLE_ACTIVITY.STALLS_TOTAL"},
    {"stalls_any", "CYCLE_ACTIVITY.CYCLES_NO_EXECUTE"},
    {"stalls_any", "CYCLE_ACTIVITY.CYCLES_NO_DISPATCH"},
    {"stalls_memory", "CYCLE_ACTIVITY.STALLS_MEM_ANY"},
    {"stalls_memory", "EXE_ACTIVITY.BOUND_ON_LOADS"},
    {"stalls_memory", "CYCLE_ACTIVITY.STALLS_LDM_PENDING"},
    {"stalls_memory", "CYCLE_ACTIVITY.STALLS_L1D_PENDING"},
    {"stalls_l1_miss", "CYCLE_ACTIVITY.STALLS_L1D_MISS"},
    {"stalls_l1_miss", "CYCLE_ACTIVITY.STALLS_L1D_PENDING"},
    {"stalls_l2_miss", "CYCLE_ACTIVITY.STALLS_L2_MISS"},
    {"stalls_l2_miss", "CYCLE_ACTIVITY.STALLS_L2_PENDING"},
    {"stalls_l3_miss", "CYCLE_ACTIVITY.STALLS_L3_MISS"},
    {"executing_any", "UOPS_EXECUTED.CYCLES_GE_1"},
    {"executing_any", "UOPS_EXECUTED.CYCLES_GE_1_UOP_EXEC"},
    {"executing_any", "{cpu/UOPS_EXECUTED.THREAD,cmask=1/}"},
    {"executing_any", "{cpu/UOPS_EXECUTED.CORE,cmask=1/}"},
    {"executing_two", "{cpu/UOPS_EXECUTED.THREAD,cmask=2/}"},
    {"executing_two", "{cpu/UOPS_EXECUTED.CORE,cmask=2/}"},
    {"executing_three", "UOPS_EXECUTED.CYCLES_GE_3"},
    {"executing_three", "UOPS_EXECUTED.CYCLES_GE_3_UOPS_EXEC"},
    {"executing_three", "{cpu/UOPS_EXECUTED.THREAD,cmask=3/}"},
    {"executing_three", "{cpu/UOPS_EXECUTED.CORE,cmask=3/}"},
    {"few_ports", "EXE_ACTIVITY.1_PORTS_UTIL + tma_retiring * EXE_ACTIVITY.2_PORTS_UTIL"},
    {"few_executing", "executing_any - if_less(1.8, insn / clks, executing_three, executing_two)"},
    {"scheduler_empty", "if_less(0.1, tma_fetch_latency, RS_EVENTS.EMPTY_CYCLES, 0)"},
    {"stalls_core", "max(0, stalls_any + few_executing - scheduler_empty)"},
    {"l2_hits_weighted", "MEM_LOAD_RETIRED.L2_HIT * (1 + buffer_hits_per_miss)"},
    {"fill_buffers_full", "L1D_PEND_MISS.FB_FULL"},
    {"latency_parts",
     "tma_icache_misses + tma_itlb_misses + tma_branch_resteers + tma_ms_switches + tma_lcp + "
     "tma_dsb_switches"},
    {"hidden_l1_cycles", "max(0, CYCLE_ACTIVITY.CYCLES_MEM_ANY - CYCLE_ACTIVITY.CYCLES_L1D_MISS)"},
    {"lock_share", "MEM_INST_RETIRED.LOCK_LOADS / MEM_INST_RETIRED.ALL_STORES"},
    {"lock_share", "MEM_UOPS_RETIRED.LOCK_LOADS / MEM_UOPS_RETIRED.ALL_STORES"},
    {"rfo_cycles", "min(clks, OFFCORE_REQUESTS_OUTSTANDING.CYCLES_WITH_DEMAND_RFO)"},
    {"gigahertz", "clks / task-clock"},
    {"stalls_not_memory", "max(0, stalls_any - stalls_memory)"},
    {"idq_uops", "IDQ.DSB_UOPS + IDQ.MITE_UOPS + IDQ.MS_UOPS + LSD.UOPS"},
    {"idq_uops", "IDQ.DSB_UOPS + IDQ.MITE_UOPS + IDQ.MS_UOPS"},
    {"small_core_slots", "topdown-retiring + topdown-bad-spec + topdown-fe-bound + topdown-be-bound"},
    {"small_core_uops", "UOPS_RETIRED.ALL"},
    {"small_core_uops", "TOPDOWN_RETIRING.ALL"},
    {"small_core_uops", "TOPDOWN_RETIRING.ALL_P"},
    {"small_core_aliases", "LD_BLOCKS.ADDRESS_ALIAS"},
    {"small_core_aliases", "LD_BLOCKS.4K_ALIAS"},
    {"oldest_load_stalls", "LD_HEAD.L1_MISS_AT_RET + LD_HEAD.L1_BOUND_AT_RET"},
    {"miss_stalls", "MEM_BOUND_STALLS_LOAD.ALL"},
    {"miss_stalls", "MEM_BOUND_STALLS.LOAD"},
    {"miss_stalls_l2_hit", "MEM_BOUND_STALLS_LOAD.L2_HIT"},
    {"miss_stalls_l2_hit", "MEM_BOUND_STALLS.LOAD_L2_HIT"},
    {"miss_stalls_l3_hit", "MEM_BOUND_STALLS_LOAD.LLC_HIT"},
    {"miss_stalls_l3_hit", "MEM_BOUND_STALLS.LOAD_LLC_HIT"},
    {"miss_stalls_l3_hit", "MEM_BOUND_STALLS_LOAD.L2_MISS - MEM_BOUND_STALLS_LOAD.LLC_MISS"},
    {"miss_stalls_l3_miss", "MEM_BOUND_STALLS_LOAD.LLC_MISS"},
    {"miss_stalls_l3_miss", "MEM_BOUND_STALLS.LOAD_DRAM_HIT"},
};

}  // namespace

std::span<const FormulaMetric> formula_metrics() {
  static const std::vector<FormulaMetric> all = [] {
    std::vector<FormulaMetric> rows;
    for (const auto part : {small_core_metrics(), tree_metrics(), ratio_metrics(), renamed_metrics()})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return all;
}

std::span<const FormulaTerm> formula_terms() { return all_formula_terms; }

}  // namespace pmusim
