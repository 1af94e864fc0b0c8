// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "gracemont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber darkmont_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 8, inferred),
    count("retire_width", &CoreParameters::retire_width, 16, inferred),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 416, inferred),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 240, inferred),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 114, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 56, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 16, recalled),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, inferred),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 16, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 2, inferred),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 4, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, inferred),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 16, inferred),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 2, inferred),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 0, inferred),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 15, inferred),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 5, inferred),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 96, inferred),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 0, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 9, recalled),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 48, inferred),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, inferred),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, inferred),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 7, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 100, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 8192, recalled),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 128, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 282, inferred),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 6, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 17, measured),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 128, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 128, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 48, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 48, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 4096, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 4, cpuid),
    cache("l1i", &CoreParameters::l1i, {64 * kib, 8, 64, 3}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, inferred),
    cache("l2", &CoreParameters::l2, {4 * mib, 16, 64, 19}, inferred),
    cache("l3", &CoreParameters::l3, {8 * mib, 16, 64, 60}, inferred),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3302'000'000, cpuid),
};
constexpr CoreNumber clearwaterforest_numbers[] = {
    cache("l3", &CoreParameters::l3, {288 * mib, 18, 64, 90}, inferred),
    clock("tsc_hz", &CoreParameters::tsc_hz, 2200'000'000, inferred),
};
}  // namespace

/// Architectural PEBS beside ACR: the E core of Panther Lake.
CpuModel darkmont() {
  CpuModel m = skymont();
  m.name = "darkmont";
  m.title = "Darkmont (Panther Lake E core)";
  m.model = 0xCC;
  m.native_model_id = 4;
  m.perf_capabilities = 0x23FFF;
  m.xss = 0x1D900;
  m.pebs.format = PebsFeatures::architectural;
  m.pebs.baseline = false;
  m.pebs.arch_capabilities = 0x60060338;
  use(m.core, darkmont_numbers, costs::skymont());
  return m;
}

namespace {
/// Darkmont alone, so that leaf 0AH describes it; no dump seen.
CpuModel clearwaterforest() {
  CpuModel m = darkmont();
  m.name = "clearwaterforest";
  m.title = "Clearwater Forest (Darkmont)";
  m.model = 0xDD;
  m.stepping = 0;
  m.hybrid = false;
  m.package_view.reset();
  m.xss = 0x1DD00;
  use_product(m.core, clearwaterforest_numbers, costs::skymont());
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::darkmont {

using namespace event_rows;

constexpr auto table = join(since_darkmont, tremont_off_core, gracemont_bandwidth);
constexpr Product products[] = {{6, 0xDD}, {6, 0xCC}, {6, 0xE5}, {6, 0xD5}};
constexpr ProductName names[] = {{"pantherlake", "darkmont"}};
constexpr Preset product_presets[] = {presets::darkmont, presets::clearwaterforest};

constexpr u32 servers[] = {0xDD};
constexpr LastLevelEvents last_level_rows[] = {
    {.event = 0x01B7, .models = servers, .values = demand_last_level(any_response, 0x33F'BFC0'0000)},
    {.event = 0x01B7, .values = demand_last_level(any_response, 0x13F'BFC0'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::darkmont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = tremont_cache,
    .last_level = last_level_rows,
    .named_events = skymont_names,
    .off_core = atom_off_core,
};

}  // namespace cores::darkmont
}  // namespace pmusim
