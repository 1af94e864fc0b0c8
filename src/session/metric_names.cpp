// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <string>
#include <vector>

#include "session/metric_table.h"

namespace pmusim {
namespace {

struct OtherName {
  std::string_view name, group, metric;
};

/// What other versions of the lists call metrics of the other tables.
constexpr OtherName other_names[] = {
    {"tma_info_bottleneck_branching_overhead", "Botlnk", "tma_bottleneck_branching_overhead"},
    {"tma_info_bottleneck_big_code", "Botlnk", "tma_bottleneck_big_code"},
    {"tma_info_bottleneck_mispredictions", "Botlnk", "tma_bottleneck_mispredictions"},
    {"tma_info_bottleneck_compute_bound_est", "Botlnk", "tma_bottleneck_compute_bound_est"},
    {"tma_info_core_ipmispredict", "BadSpec", "tma_info_bad_spec_ipmispredict"},
    {"tma_info_memory_code_stlb_mpki", "Mem", "tma_info_memory_tlb_code_stlb_mpki"},
    {"tma_info_memory_load_stlb_mpki", "Mem", "tma_info_memory_tlb_load_stlb_mpki"},
    {"tma_info_memory_store_stlb_mpki", "Mem", "tma_info_memory_tlb_store_stlb_mpki"},
    {"tma_info_memory_page_walks_utilization", "Mem", "tma_info_memory_tlb_page_walks_utilization"},
    {"tma_info_memory_data_l2_mlp", "Mem", "tma_info_memory_latency_data_l2_mlp"},
    {"tma_info_memory_load_l2_mlp", "Mem", "tma_info_memory_latency_load_l2_mlp"},
    {"tma_info_memory_load_l2_miss_latency", "Mem", "tma_info_memory_latency_load_l2_miss_latency"},
    {"tma_info_memory_load_l3_miss_latency", "Mem", "tma_info_memory_latency_load_l3_miss_latency"},
    {"dtlb_load_mpi", "per_instr", "dtlb_2nd_level_load_mpi"},
    {"dtlb_store_mpi", "per_instr", "dtlb_2nd_level_store_mpi"},
    {"itlb_mpi", "per_instr", "itlb_2nd_level_mpi"},
    {"tma_info_bottleneck_%_load_miss_bound_cycles", "Mem", "tma_info_bottleneck_load_miss_bound_cycles"},
    {"tma_info_buffer_stalls_%_load_buffer_stall_cycles", "Mem",
     "tma_info_buffer_stalls_load_buffer_stall_cycles"},
    {"tma_info_buffer_stalls_%_store_buffer_stall_cycles", "Mem",
     "tma_info_buffer_stalls_store_buffer_stall_cycles"},
    {"tma_info_load_miss_bound_%_loadmissbound_with_l2hit", "Mem",
     "tma_info_load_miss_bound_loadmissbound_with_l2hit"},
    {"tma_info_load_miss_bound_%_loadmissbound_with_l3hit", "Mem",
     "tma_info_load_miss_bound_loadmissbound_with_l3hit"},
    {"tma_info_load_miss_bound_%_loadmissbound_with_l3miss", "Mem",
     "tma_info_load_miss_bound_loadmissbound_with_l3miss"},
    {"tma_info_mem_exec_blocks_%_loads_with_adressaliasing", "Mem",
     "tma_info_mem_exec_blocks_loads_with_adressaliasing"},
};

std::vector<std::string> all_meanings() {
  std::vector<std::string> all;
  for (const OtherName& other : other_names) all.push_back(fmt::format("as {}", other.metric));
  return all;
}

}  // namespace

std::span<const FormulaMetric> renamed_metrics() {
  static const std::vector<std::string> meanings = all_meanings();
  static const std::vector<FormulaMetric> rows = [] {
    std::vector<FormulaMetric> all;
    for (const OtherName& other : other_names)
      all.push_back({other.name, 0, other.group, other.metric, meanings[all.size()]});
    return all;
  }();
  return rows;
}

}  // namespace pmusim
