// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "rules.h"
#include "sandy_bridge_family.h"
#include "shared/shared.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber ivybridge_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 4, published),
    count("retire_width", &CoreParameters::retire_width, 4, measured),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 168, measured),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 54, measured),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 64, measured),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 36, measured),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 10, recalled),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, recalled),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 32, recalled),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 2, measured),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 2, published),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, published),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 16, recalled),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 1, recalled),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 0, measured),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, published),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 256, recalled),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 16, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 12, published),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 56, measured),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 256, measured),
    count("uop_cache_ways", &CoreParameters::uop_cache_ways, 8, measured),
    count("uop_cache_line_uops", &CoreParameters::uop_cache_line_uops, 6, measured),
    count("uop_cache_window_bytes", &CoreParameters::uop_cache_window_bytes, 32, measured),
    count("uop_cache_window_lines", &CoreParameters::uop_cache_window_lines, 3, measured),
    count("uop_cache_uops_per_cycle", &CoreParameters::uop_cache_uops_per_cycle, 4, measured),
    count("decoder_switch_cycles", &CoreParameters::decoder_switch_cycles, 2, published),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 28, measured),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, measured),
    count("decoders", &CoreParameters::decoders, 4, measured),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 16, measured),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, published),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, recalled),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 5, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 90, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 4096, recalled),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 16, measured),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 240, measured),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 5, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 10, measured),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 128, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 4, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 64, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 4, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 512, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 4, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, measured),
    cache("l2", &CoreParameters::l2, {256 * kib, 8, 64, 12}, measured),
    cache("l3", &CoreParameters::l3, {8 * mib, 16, 64, 35}, measured),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3500'000'000, measured),
};
}  // namespace

namespace {
CpuModel ivybridge() {
  CpuModel m = sandybridge();
  m.name = "ivybridge";
  m.title = "Ivy Bridge";
  m.pfm_name = "ivb";
  m.model = 0x3A;
  m.stepping = 9;
  use(m.core, ivybridge_numbers, costs::ivybridge());
  use_rules<RuleSet::ivy_bridge>(m.core);
  m.core.move_elimination = MoveElimination::all;
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::ivy_bridge {

using namespace event_rows;

constexpr std::array ivy_bridge_only{
    row("MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM", 0xD3, 0x01, on(load_dram)),
    row("DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK", 0x08, 0x81, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x08, 0x82, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x5F, 0x04, on_but_not(load_dtlb_miss, load_stlb_miss)),
    at_least(5, row("CYCLE_ACTIVITY.STALLS_L2_PENDING", 0xA3, 0x05, sum(Q::stall_cycles_l2_miss, 5))),
    at_least(6, row("CYCLE_ACTIVITY.STALLS_LDM_PENDING", 0xA3, 0x06, sum(Q::stall_cycles_memory, 6))),
    at_least(12, row("CYCLE_ACTIVITY.STALLS_L1D_PENDING", 0xA3, 0x0C, sum(Q::stall_cycles_l1_miss, 12))),
};

constexpr auto table = join(sandy_bridge_common, ivy_bridge_load_misses, ivy_bridge_only,
                            shared_rows<Microarchitecture::ivy_bridge>());

/// The one cache event in which Ivy Bridge differs from Sandy Bridge: DTLB_LOAD_MISSES has other umasks.
constexpr auto cache = changed(sandy_bridge_cache, {dtlb, read, miss, 0x8108});
constexpr Product products[] = {{6, 0x3A}, {6, 0x3E}};
constexpr Preset product_presets[] = {presets::ivybridge};

constinit const CoreFacts facts{
    .core = Microarchitecture::ivy_bridge,
    .products = products,
    .presets = product_presets,
    .events = table,
    .generic = {.frontend_stalls = 0x010E | GenericEncodings::no_uops},
    .cache_events = cache,
    .named_events = sandy_bridge_names,
    .off_core = sandy_bridge_off_core,
};

}  // namespace cores::ivy_bridge
}  // namespace pmusim
