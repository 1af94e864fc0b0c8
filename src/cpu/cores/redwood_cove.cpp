// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "shared/shared.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber graniterapids_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 6, published),
    count("retire_width", &CoreParameters::retire_width, 8, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 512, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 205, recalled),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 192, published),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 114, published),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 16, published),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, recalled),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 32, recalled),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 8, measured),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 8, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, published),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 48, recalled),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 1, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 0, measured),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, published),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 256, recalled),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 17, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 10, inferred),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 192, recalled),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 512, published),
    count("uop_cache_ways", &CoreParameters::uop_cache_ways, 8, published),
    count("uop_cache_line_uops", &CoreParameters::uop_cache_line_uops, 8, published),
    count("uop_cache_window_bytes", &CoreParameters::uop_cache_window_bytes, 64, recalled),
    count("uop_cache_window_lines", &CoreParameters::uop_cache_window_lines, 6, inferred),
    count("uop_cache_uops_per_cycle", &CoreParameters::uop_cache_uops_per_cycle, 8, published),
    count("decoder_switch_cycles", &CoreParameters::decoder_switch_cycles, 2, published),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 72, inferred),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 1, inferred),
    count("decoders", &CoreParameters::decoders, 6, published),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 32, published),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, published),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, recalled),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 6, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 90, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 12288, published),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 24, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 360, recalled),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 5, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 15, inferred),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 256, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 8, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 96, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 6, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 2048, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 16, cpuid),
    cache("l1i", &CoreParameters::l1i, {64 * kib, 16, 64, 5}, cpuid),
    cache("l1d", &CoreParameters::l1d, {48 * kib, 12, 64, 5}, measured),
    cache("l2", &CoreParameters::l2, {2 * mib, 16, 64, 16}, inferred),
    cache("l3", &CoreParameters::l3, {480 * mib, 16, 64, 80}, recalled),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3000'000'000, cpuid),
};
constexpr CoreNumber redwoodcove_numbers[] = {
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 358, measured),
    cache("l2", &CoreParameters::l2, {2 * mib, 16, 64, 16}, measured),
    cache("l3", &CoreParameters::l3, {24 * mib, 12, 64, 70}, measured),
    clock("tsc_hz", &CoreParameters::tsc_hz, 2995'000'000, measured),
};
}  // namespace

namespace {
/// Redwood Cove of Granite Rapids: leaf 23H, retire latency in PEBS records.
CpuModel graniterapids() {
  CpuModel m = sapphirerapids();
  m.name = "graniterapids";
  m.title = "Granite Rapids";
  m.model = 0xAD;
  m.stepping = 1;
  m.native_model_id = 2;
  m.arch_events = 0xDFF;
  m.perf_capabilities = 0x2F5FF;
  m.arch_perfmon_ext = true;
  m.xss = 0x1DD00;
  m.pebs.format = 5;
  use(m.core, graniterapids_numbers, costs::redwood_cove());
  return m;
}

}  // namespace

/// Redwood Cove as the P core of Meteor Lake.
CpuModel redwoodcove() {
  CpuModel m = graniterapids();
  m.name = "redwoodcove";
  m.title = "Redwood Cove (Meteor Lake P core)";
  m.model = 0xAA;
  m.stepping = 4;
  m.hybrid = true;
  m.package_view = CommonView{.gp_counters = 0xFF, .fixed_counters = 0x7, .arch_events = 0x7F};
  m.arch_events_length = 7;
  m.perf_capabilities = 0x275FF;
  m.rtm = m.hle = false;
  m.xcr0 = 0x207;
  m.xss = 0xD900;
  use_product(m.core, redwoodcove_numbers, costs::redwood_cove());
  return m;
}

}  // namespace presets

namespace cores::redwood_cove {

using namespace event_rows;

constexpr auto table =
    join(before_lion_cove, front_end_retired(0x03), shared_rows<Microarchitecture::redwood_cove>());
constexpr Product products[] = {{6, 0xAC}, {6, 0xAA}, {6, 0xB5}, {6, 0xAD}, {6, 0xAE}};
constexpr ProductName names[] = {{"meteorlake", "redwoodcove"}};
constexpr Preset product_presets[] = {presets::redwoodcove, presets::graniterapids};

constexpr u32 servers[] = {0xAD, 0xAE};
constexpr LastLevelEvents last_level_rows[] = {
    {.event = 0x012A, .models = servers, .values = {0x10001, 0x3F'BFC0'0001, 0x3F'3FFC'0002, 0x3F'3FC0'0002}},
    {.event = 0x012A, .edition = CacheTable::Edition::corrected, .values = client_last_level}};

constinit const CoreFacts facts{
    .core = Microarchitecture::redwood_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .last_level = last_level_rows,
    .named_events = golden_cove_memory_names,
    .off_core = golden_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores::redwood_cove
}  // namespace pmusim
