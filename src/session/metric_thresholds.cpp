// SPDX-License-Identifier: MIT
#include "session/metric_thresholds.h"

#include <algorithm>
#include <iterator>

namespace pmusim {
namespace {

enum class Above : u8 { with_parents, alone };

/// In percent.
struct Threshold {
  std::string_view node;
  double large_core;
  double small_core = 0;  ///< 0: the same
  Above counts = Above::with_parents;
};

constexpr Threshold thresholds[] = {
    {"tma_4k_aliasing", 20},
    {"tma_alu_op_utilization", 40, 0, Above::alone},
    {"tma_backend_bound", 20, 10, Above::alone},
    {"tma_bad_speculation", 15, 0, Above::alone},
    {"tma_base", 60},
    {"tma_branch_instructions", 10},
    {"tma_branch_mispredicts", 10, 5},
    {"tma_branch_resteers", 5},
    {"tma_clears_resteers", 5},
    {"tma_core_bound", 10},
    {"tma_divider", 20},
    {"tma_dram_bound", 10},
    {"tma_dsb", 15},
    {"tma_dsb_switches", 5},
    {"tma_dtlb_load", 10},
    {"tma_dtlb_store", 5},
    {"tma_fb_full", 30, 0, Above::alone},
    {"tma_fetch_bandwidth", 20, 0, Above::alone},
    {"tma_fetch_latency", 10},
    {"tma_few_uops_instructions", 5},
    {"tma_fp_arith", 20},
    {"tma_fp_scalar", 10},
    {"tma_fp_vector", 10},
    {"tma_fp_vector_128b", 10},
    {"tma_fp_vector_256b", 10},
    {"tma_fp_vector_512b", 10},
    {"tma_frontend_bound", 15, 20, Above::alone},
    {"tma_fused_instructions", 10},
    {"tma_heavy_operations", 10, 0, Above::alone},
    {"tma_icache_misses", 5},
    {"tma_ifetch_bandwidth", 10},
    {"tma_ifetch_latency", 15},
    {"tma_int_operations", 10},
    {"tma_int_vector_128b", 10},
    {"tma_int_vector_256b", 10},
    {"tma_itlb_misses", 5},
    {"tma_l1_bound", 10},
    {"tma_l1_hit_latency", 10},
    {"tma_l1_latency_dependency", 10},
    {"tma_l2_bound", 5, 10},
    {"tma_l3_bound", 5, 10},
    {"tma_l3_hit_latency", 10},
    {"tma_lcp", 5},
    {"tma_light_operations", 60, 0, Above::alone},
    {"tma_load_op_utilization", 60, 0, Above::alone},
    {"tma_load_stlb_hit", 5},
    {"tma_load_stlb_miss", 5},
    {"tma_load_store_bound", 20},
    {"tma_local_mem", 10},
    {"tma_lock_latency", 20},
    {"tma_lsd", 15},
    {"tma_machine_clears", 10, 5},
    {"tma_mem_bandwidth", 20},
    {"tma_mem_latency", 10},
    {"tma_memory_bound", 20},
    {"tma_memory_fence", 5},
    {"tma_memory_operations", 10},
    {"tma_microcode_sequencer", 5},
    {"tma_mispredicts_resteers", 5},
    {"tma_mite", 10},
    {"tma_ms_switches", 5},
    {"tma_ms_uops", 5},
    {"tma_non_fused_branches", 10},
    {"tma_nop_instructions", 10},
    {"tma_nuke", 5},
    {"tma_other_light_ops", 30},
    {"tma_other_load_store", 10},
    {"tma_other_mispredicts", 5},
    {"tma_other_nukes", 5},
    {"tma_port_0", 60, 0, Above::alone},
    {"tma_port_1", 60, 0, Above::alone},
    {"tma_port_2", 60, 0, Above::alone},
    {"tma_port_3", 60, 0, Above::alone},
    {"tma_port_4", 60, 0, Above::alone},
    {"tma_port_5", 60, 0, Above::alone},
    {"tma_port_6", 60, 0, Above::alone},
    {"tma_port_7", 60, 0, Above::alone},
    {"tma_ports_utilization", 15},
    {"tma_ports_utilized_0", 20},
    {"tma_ports_utilized_1", 20},
    {"tma_ports_utilized_2", 15},
    {"tma_ports_utilized_3m", 40},
    {"tma_retiring", 70, 75, Above::alone},
    {"tma_serializing_operation", 10},
    {"tma_shuffles_256b", 10},
    {"tma_slow_pause", 5},
    {"tma_split_stores", 20},
    {"tma_store_bound", 20, 10},
    {"tma_store_fwd_blk", 10},
    {"tma_store_latency", 10},
    {"tma_store_op_utilization", 60, 0, Above::alone},
    {"tma_store_stlb_hit", 5},
    {"tma_store_stlb_miss", 5},
    {"tma_unknown_branches", 5},
    {"tma_x87_use", 10},
};

const Threshold* find_threshold(std::string_view node) {
  const auto* found = std::ranges::find(thresholds, node, &Threshold::node);
  return found == std::end(thresholds) ? nullptr : found;
}

bool is_parent_above(const Metric& node, const std::vector<EventTotal>& totals, const CpuModel& model) {
  for (const Metric& other : metrics()) {
    if (other.name != node.parent) continue;
    if (const auto value = metric_value(other, totals, model))
      return stands_out(other, *value, totals, model).value_or(true);
  }
  return true;  // it was not counted
}

}  // namespace

std::optional<bool> stands_out(const Metric& metric, double value, const std::vector<EventTotal>& totals,
                               const CpuModel& model) {
  const Threshold* const threshold = metric.level == 0 ? nullptr : find_threshold(metric.name);
  if (threshold == nullptr) return std::nullopt;
  const bool has_own = threshold->small_core != 0 && model.core_type == CoreType::atom;
  if (value <= (has_own ? threshold->small_core : threshold->large_core)) return false;
  return threshold->counts == Above::alone || is_parent_above(metric, totals, model);
}

}  // namespace pmusim
