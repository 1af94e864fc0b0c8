// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "shared/shared.h"
#include "skylake_family.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber skylake_x_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 4, published),
    count("retire_width", &CoreParameters::retire_width, 4, measured),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 224, measured),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 97, measured),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 72, inferred),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 56, inferred),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 12, recalled),
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
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 17, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 9, published),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 64, measured),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 256, measured),
    count("uop_cache_ways", &CoreParameters::uop_cache_ways, 8, measured),
    count("uop_cache_line_uops", &CoreParameters::uop_cache_line_uops, 6, measured),
    count("uop_cache_window_bytes", &CoreParameters::uop_cache_window_bytes, 32, measured),
    count("uop_cache_window_lines", &CoreParameters::uop_cache_window_lines, 3, measured),
    count("uop_cache_uops_per_cycle", &CoreParameters::uop_cache_uops_per_cycle, 6, published),
    count("decoder_switch_cycles", &CoreParameters::decoder_switch_cycles, 2, published),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 0, measured),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, measured),
    count("decoders", &CoreParameters::decoders, 4, measured),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 16, measured),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 2, published),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, recalled),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 4, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 90, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 4096, recalled),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 16, measured),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 291, measured),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 6, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 15, inferred),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 128, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 8, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 64, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 4, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 1536, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 12, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, measured),
    cache("l2", &CoreParameters::l2, {1 * mib, 16, 64, 14}, measured),
    cache("l3", &CoreParameters::l3, {25344 * kib, 11, 64, 76}, measured),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3503'000'000, measured),
};
constexpr CoreNumber cascadelake_numbers[] = {
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 28, measured),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 1, measured),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 291, inferred),
    cache("l2", &CoreParameters::l2, {1 * mib, 16, 64, 14}, inferred),
    cache("l3", &CoreParameters::l3, {25344 * kib, 11, 64, 74}, inferred),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3503'000'000, inferred),
};
}  // namespace

namespace {
CpuModel skylake_x() {
  CpuModel m = skylake();
  m.name = "skylake-x";
  m.title = "Skylake-X, Skylake-SP";
  m.pfm_name = "skx";
  m.model = 0x55;
  m.stepping = 4;
  m.xcr0 = 0xFF;
  use(m.core, skylake_x_numbers, costs::skylake_x());
  return m;
}

CpuModel cascadelake() {
  CpuModel m = skylake_x();
  m.name = "cascadelake";
  m.title = "Cascade Lake";
  m.pfm_name = "clx";
  m.stepping = 7;
  use_product(m.core, cascadelake_numbers, costs::cascadelake());
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::skylake_x {

using namespace event_rows;

constexpr auto table =
    join(skylake_events, remote_loads, skylake_x_fp_arithmetic, shared_rows<Microarchitecture::skylake_x>());
constexpr Product products[] = {{6, 0x55}};
constexpr ProductName names[] = {{"cooperlake", "cascadelake"}};
constexpr Preset product_presets[] = {presets::skylake_x, presets::cascadelake};

constinit const CoreFacts facts{
    .core = Microarchitecture::skylake_x,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .cache_events = skylake_cache,
    .named_events = haswell_names,
    .off_core = skylake_x_off_core_layout,
};

}  // namespace cores::skylake_x
}  // namespace pmusim
