// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber lioncove_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 8, published),
    count("retire_width", &CoreParameters::retire_width, 12, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 576, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 338, compiler),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 189, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 120, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 16, inferred),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, recalled),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 32, recalled),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 4, measured),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 8, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, published),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 48, recalled),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 1, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 2, measured),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, published),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 256, recalled),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 18, inferred),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 10, inferred),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 192, recalled),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 656, inferred),
    count("uop_cache_ways", &CoreParameters::uop_cache_ways, 8, inferred),
    count("uop_cache_line_uops", &CoreParameters::uop_cache_line_uops, 8, inferred),
    count("uop_cache_window_bytes", &CoreParameters::uop_cache_window_bytes, 64, recalled),
    count("uop_cache_window_lines", &CoreParameters::uop_cache_window_lines, 6, inferred),
    count("uop_cache_uops_per_cycle", &CoreParameters::uop_cache_uops_per_cycle, 12, published),
    count("decoder_switch_cycles", &CoreParameters::decoder_switch_cycles, 2, published),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 200, compiler),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 1, compiler),
    count("decoders", &CoreParameters::decoders, 8, published),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 64, inferred),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, published),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, recalled),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 6, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 90, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 12288, published),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 24, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 396, recalled),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 5, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 15, inferred),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 256, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 8, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 128, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 8, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 2048, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 16, cpuid),
    cache("l1i", &CoreParameters::l1i, {64 * kib, 16, 64, 5}, cpuid),
    cache("l1d", &CoreParameters::l1d, {48 * kib, 12, 64, 4}, measured),
    cache("l2", &CoreParameters::l2, {2560 * kib, 10, 64, 17}, published),
    cache("l3", &CoreParameters::l3, {12 * mib, 12, 64, 51}, recalled),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3302'000'000, cpuid),
};
constexpr CoreNumber arrowlake_h_numbers[] = {
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 423, measured),
    cache("l2", &CoreParameters::l2, {3 * mib, 12, 64, 16}, measured),
    cache("l3", &CoreParameters::l3, {24 * mib, 12, 64, 70}, inferred),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3686'000'000, cpuid),
};
}  // namespace

/// Ten counters, perfmon version 6, records of format 6, branch counters in the LBR: the P core of Lunar
/// Lake.
CpuModel lioncove() {
  CpuModel m = redwoodcove();
  m.name = "lioncove";
  m.title = "Lion Cove (Lunar Lake P core)";
  m.pfm_name = "";
  m.model = 0xBD;
  m.stepping = 1;
  m.native_model_id = 3;
  m.perfmon_version = 6;
  m.gp_counters = 0x3FF;
  m.arch_events = 0x1DFF;
  m.package_view = version_6_hybrid_view;
  m.arch_events_length = version_6_events;
  m.perf_capabilities = 0x2F6FF;
  m.perfmon_ext_ebx = 3;
  m.offcore_rsp = {0xFFFFFFFFFFF, 0xFFFFFFFFFFF};
  m.lbr = architectural_lbr(lbr_deep_cstate_reset, lbr_records_and_counters);
  m.pebs.format = 6;
  m.pebs.counters = 0x3FF | fixed(0xF);
  m.pebs.distribution = bit(0) | bit(1) | fixed(1);
  m.pebs.data_source = DataSourceEncoding::lion_cove;
  use(m.core, lioncove_numbers, costs::lion_cove());
  return m;
}

namespace {
/// Arrow Lake-H carries low-power Crestmonts, so that its Lion Cove reports version 5 and writes format 5.
CpuModel arrowlake_h() {
  CpuModel m = lioncove();
  m.name = "arrowlake-h";
  m.title = "Lion Cove (Arrow Lake-H P core)";
  m.model = 0xC5;
  m.perfmon_version = 5;
  m.package_view = CommonView{.gp_counters = 0xFF, .fixed_counters = 0x7, .arch_events = 0x7F};
  m.arch_events_length = 7;
  m.perf_capabilities = 0x2F5FF;
  m.lbr = architectural_lbr(lbr_deep_cstate_reset, lbr_records);
  m.pebs.format = 5;
  use_product(m.core, arrowlake_h_numbers, costs::lion_cove());
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::lion_cove {

using namespace event_rows;

constexpr Product products[] = {{6, 0xBD}, {6, 0xC5}, {6, 0xC6}};
constexpr ProductName names[] = {
    {"arrowlake", "lioncove"}, {"arrowlake-s", "lioncove"}, {"lunarlake", "lioncove"}};
constexpr Preset product_presets[] = {presets::lioncove, presets::arrowlake_h};

constexpr u32 lunar_lake[] = {0xBD};
constexpr LastLevelEvents last_level_rows[] = {{.event = 0x012A,
                                                .models = lunar_lake,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = lion_cove_last_level},
                                               {.event = 0x012A,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = demand_last_level(any_response, 0xFE7'F800'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::lion_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = lion_cove_events,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .last_level = last_level_rows,
    .named_events = golden_cove_memory_names,
    .off_core = lion_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores::lion_cove
}  // namespace pmusim
