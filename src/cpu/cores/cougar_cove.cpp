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

constexpr CoreNumber cougarcove_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 8, published),
    count("retire_width", &CoreParameters::retire_width, 12, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 576, inferred),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 338, inferred),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 189, inferred),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 120, inferred),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 16, inferred),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, inferred),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 32, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 4, inferred),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 8, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, inferred),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 48, inferred),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 1, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 2, inferred),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 256, inferred),
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
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 396, inferred),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 5, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 15, inferred),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 256, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 8, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 128, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 8, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 3072, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 12, cpuid),
    cache("l1i", &CoreParameters::l1i, {64 * kib, 16, 64, 5}, cpuid),
    cache("l1d", &CoreParameters::l1d, {48 * kib, 12, 64, 4}, inferred),
    cache("l2", &CoreParameters::l2, {3 * mib, 12, 64, 17}, inferred),
    cache("l3", &CoreParameters::l3, {12 * mib, 12, 64, 55}, inferred),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3302'000'000, cpuid),
};
}  // namespace

/// Architectural PEBS: the P core of Panther Lake.
CpuModel cougarcove() {
  CpuModel m = lioncove();
  m.name = "cougarcove";
  m.title = "Cougar Cove (Panther Lake P core)";
  m.model = 0xCC;
  m.native_model_id = 4;
  m.perf_capabilities = 0x2BFFF;
  m.xss = 0x1D900;
  m.pebs.format = PebsFeatures::architectural;
  m.pebs.baseline = false;
  m.pebs.arch_capabilities = 0x60060378;
  use(m.core, cougarcove_numbers, costs::lion_cove());
  return m;
}

}  // namespace presets

namespace cores::cougar_cove {

using namespace event_rows;

constexpr Product products[] = {{6, 0xCC}, {6, 0xE5}, {6, 0xD5}};
constexpr ProductName names[] = {{"pantherlake", "cougarcove"}};
constexpr Preset product_presets[] = {presets::cougarcove};

constinit const CoreFacts facts{
    .core = Microarchitecture::cougar_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = cougar_cove_events,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = cougar_cove_cache,
    .named_events = golden_cove_memory_names,
    .off_core = lion_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores::cougar_cove
}  // namespace pmusim
