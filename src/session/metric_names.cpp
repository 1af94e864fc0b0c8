// SPDX-License-Identifier: MIT
#include "session/metric_table.h"

namespace pmusim {
namespace {

/// What other versions of the lists call metrics of the other tables.
constexpr FormulaMetric other_names[] = {
    {"tma_info_bottleneck_branching_overhead", 0, "Botlnk", "tma_bottleneck_branching_overhead",
     "as tma_bottleneck_branching_overhead"},
    {"tma_info_bottleneck_big_code", 0, "Botlnk", "tma_bottleneck_big_code", "as tma_bottleneck_big_code"},
    {"tma_info_bottleneck_mispredictions", 0, "Botlnk", "tma_bottleneck_mispredictions",
     "as tma_bottleneck_mispredictions"},
    {"tma_info_bottleneck_compute_bound_est", 0, "Botlnk", "tma_bottleneck_compute_bound_est",
     "as tma_bottleneck_compute_bound_est"},
    {"tma_info_core_ipmispredict", 0, "BadSpec", "tma_info_bad_spec_ipmispredict",
     "as tma_info_bad_spec_ipmispredict"},
    {"tma_info_memory_code_stlb_mpki", 0, "Mem", "tma_info_memory_tlb_code_stlb_mpki",
     "as tma_info_memory_tlb_code_stlb_mpki"},
    {"tma_info_memory_load_stlb_mpki", 0, "Mem", "tma_info_memory_tlb_load_stlb_mpki",
     "as tma_info_memory_tlb_load_stlb_mpki"},
    {"tma_info_memory_store_stlb_mpki", 0, "Mem", "tma_info_memory_tlb_store_stlb_mpki",
     "as tma_info_memory_tlb_store_stlb_mpki"},
    {"tma_info_memory_page_walks_utilization", 0, "Mem", "tma_info_memory_tlb_page_walks_utilization",
     "as tma_info_memory_tlb_page_walks_utilization"},
    {"tma_info_memory_data_l2_mlp", 0, "Mem", "tma_info_memory_latency_data_l2_mlp",
     "as tma_info_memory_latency_data_l2_mlp"},
    {"tma_info_memory_load_l2_mlp", 0, "Mem", "tma_info_memory_latency_load_l2_mlp",
     "as tma_info_memory_latency_load_l2_mlp"},
    {"tma_info_memory_load_l2_miss_latency", 0, "Mem", "tma_info_memory_latency_load_l2_miss_latency",
     "as tma_info_memory_latency_load_l2_miss_latency"},
    {"tma_info_memory_load_l3_miss_latency", 0, "Mem", "tma_info_memory_latency_load_l3_miss_latency",
     "as tma_info_memory_latency_load_l3_miss_latency"},
    {"dtlb_load_mpi", 0, "per_instr", "dtlb_2nd_level_load_mpi", "as dtlb_2nd_level_load_mpi"},
    {"dtlb_store_mpi", 0, "per_instr", "dtlb_2nd_level_store_mpi", "as dtlb_2nd_level_store_mpi"},
    {"itlb_mpi", 0, "per_instr", "itlb_2nd_level_mpi", "as itlb_2nd_level_mpi"},
    {"tma_info_bottleneck_%_load_miss_bound_cycles", 0, "Mem", "tma_info_bottleneck_load_miss_bound_cycles",
     "as tma_info_bottleneck_load_miss_bound_cycles"},
    {"tma_info_buffer_stalls_%_load_buffer_stall_cycles", 0, "Mem",
     "tma_info_buffer_stalls_load_buffer_stall_cycles", "as tma_info_buffer_stalls_load_buffer_stall_cycles"},
    {"tma_info_buffer_stalls_%_store_buffer_stall_cycles", 0, "Mem",
     "tma_info_buffer_stalls_store_buffer_stall_cycles",
     "as tma_info_buffer_stalls_store_buffer_stall_cycles"},
    {"tma_info_load_miss_bound_%_loadmissbound_with_l2hit", 0, "Mem",
     "tma_info_load_miss_bound_loadmissbound_with_l2hit",
     "as tma_info_load_miss_bound_loadmissbound_with_l2hit"},
    {"tma_info_load_miss_bound_%_loadmissbound_with_l3hit", 0, "Mem",
     "tma_info_load_miss_bound_loadmissbound_with_l3hit",
     "as tma_info_load_miss_bound_loadmissbound_with_l3hit"},
    {"tma_info_load_miss_bound_%_loadmissbound_with_l3miss", 0, "Mem",
     "tma_info_load_miss_bound_loadmissbound_with_l3miss",
     "as tma_info_load_miss_bound_loadmissbound_with_l3miss"},
    {"tma_info_mem_exec_blocks_%_loads_with_adressaliasing", 0, "Mem",
     "tma_info_mem_exec_blocks_loads_with_adressaliasing",
     "as tma_info_mem_exec_blocks_loads_with_adressaliasing"},
};

}  // namespace

std::span<const FormulaMetric> renamed_metrics() { return other_names; }

}  // namespace pmusim
