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

constexpr CoreNumber sandybridge_numbers[] = {
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
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, recalled),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 0, measured),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 256, recalled),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 16, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 12, published),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 28, measured),
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
    count("predictor_tables", &CoreParameters::predictor_tables, 4, inferred),
    count("predictor_entries", &CoreParameters::predictor_entries, 512, inferred),
    count("predictor_history", &CoreParameters::predictor_history, 32, inferred),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 229, measured),
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
    cache("l3", &CoreParameters::l3, {8 * mib, 16, 64, 34}, measured),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3400'000'000, measured),
};
}  // namespace

/// Full-width counter writes, off-core filters for two events, precise stores on counter 3. Eight counters
/// per core, which hyper-threading (on here) splits into four and four.
CpuModel sandybridge() {
  CpuModel m = nehalem();
  m.name = "sandybridge";
  m.title = "Sandy Bridge";
  m.pfm_name = "snb";
  m.model = 0x2A;
  m.stepping = 7;
  m.arch_events = 0x7F;
  m.perf_capabilities = 0x31C3;
  m.offcore_rsp = {0x3F807F8FFF, 0x3F807F8FFF};
  m.xcr0 = 0x7;
  m.lbr.nehalem_filters = false;
  m.pebs.precise_store = true;
  m.pebs.distribution = bit(1);
  m.pebs.data_source = DataSourceEncoding::sandy_bridge;
  m.core.bus_hz = 100'000'000;
  use(m.core, sandybridge_numbers, costs::sandybridge());
  use_rules<RuleSet::sandy_bridge>(m.core);
  m.core.macro_fusion = MacroFusion::sandy_bridge;
  return m;
}

}  // namespace presets

namespace cores::sandy_bridge {

using namespace event_rows;

constexpr std::array sandy_bridge_only{
    row("MEM_LOAD_UOPS_MISC_RETIRED.LLC_MISS", 0xD4, 0x02, on(load_l3_miss)),
    row("DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK", 0x08, 0x01, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x08, 0x02, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x08, 0x10, on_but_not(load_dtlb_miss, load_stlb_miss)),
    at_least(5, row("CYCLE_ACTIVITY.STALLS_L2_PENDING", 0xA3, 0x05, sum(Q::stall_cycles_l2_miss, 5))),
    at_least(6, row("CYCLE_ACTIVITY.STALLS_L1D_PENDING", 0xA3, 0x06, sum(Q::stall_cycles_l1_miss, 6))),
};

constexpr auto table =
    join(sandy_bridge_common, sandy_bridge_only, shared_rows<Microarchitecture::sandy_bridge>());
constexpr Product products[] = {{6, 0x2A}, {6, 0x2D}};
constexpr Preset product_presets[] = {presets::sandybridge};

constinit const CoreFacts facts{
    .core = Microarchitecture::sandy_bridge,
    .products = products,
    .presets = product_presets,
    .events = table,
    .generic = {.frontend_stalls = 0x010E | GenericEncodings::no_uops,
                .backend_stalls = 0x01B1 | GenericEncodings::no_uops},
    .cache_events = sandy_bridge_cache,
    .named_events = sandy_bridge_names,
    .off_core = sandy_bridge_off_core,
};

}  // namespace cores::sandy_bridge
}  // namespace pmusim
