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

constexpr CoreNumber skymont_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 8, published),
    count("retire_width", &CoreParameters::retire_width, 16, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 416, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 240, inferred),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 114, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 56, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 16, recalled),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, recalled),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 16, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 2, measured),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 4, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, published),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 16, measured),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 2, measured),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 0, recalled),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 15, inferred),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 5, inferred),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 96, published),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 0, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 9, published),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 48, inferred),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, inferred),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, inferred),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 7, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 100, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 8192, recalled),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 128, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 282, measured),
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
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, measured),
    cache("l2", &CoreParameters::l2, {4 * mib, 16, 64, 19}, measured),
    cache("l3", &CoreParameters::l3, {8 * mib, 16, 64, 60}, inferred),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3302'000'000, cpuid),
};
constexpr CoreNumber arrowlake_h_atom_numbers[] = {
    cache("l3", &CoreParameters::l3, {24 * mib, 12, 64, 58}, inferred),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3686'000'000, cpuid),
};
}  // namespace

/// Perfmon version 6, a gap in the fixed counters (top-down on 4 to 6, no SLOTS), auto counter reload: the E
/// core of Lunar Lake.
CpuModel skymont() {
  CpuModel m = crestmont();
  m.name = "skymont";
  m.title = "Skymont (Lunar Lake E core)";
  m.model = 0xBD;
  m.stepping = 1;
  m.native_model_id = 3;
  m.perfmon_version = 6;
  m.fixed_counters = 0x77;
  m.arch_events = 0x1F7F;
  m.package_view = version_6_hybrid_view;
  m.arch_events_length = version_6_events;
  m.perf_capabilities = 0x276FF;
  m.perfmon_ext_ebx = 3;
  m.lbr = architectural_lbr(lbr_deep_cstate_reset | lbr_linear_ip, lbr_records_and_counters);
  m.pebs.format = 6;
  m.pebs.counters = 0xFF | fixed(0x77);
  m.acr = {.reloadable = 0xFC | fixed(0x3), .cause = 0xFC | fixed(0x3)};
  use(m.core, skymont_numbers, costs::skymont());
  return m;
}

namespace {
/// Skymont in Arrow Lake-H, whose leaf 0AH says version 5 for the sake of its low-power Crestmonts.
CpuModel arrowlake_h_atom() {
  CpuModel m = skymont();
  m.name = "arrowlake-h-atom";
  m.title = "Skymont (Arrow Lake-H E core)";
  m.model = 0xC5;
  m.perfmon_version = 5;
  m.package_view = CommonView{.gp_counters = 0xFF, .fixed_counters = 0x7, .arch_events = 0x7F};
  m.arch_events_length = 7;
  m.perf_capabilities = 0x275FF;
  m.lbr = architectural_lbr(lbr_deep_cstate_reset | lbr_linear_ip, lbr_records);
  m.pebs.format = 5;
  m.acr = {};
  use_product(m.core, arrowlake_h_atom_numbers, costs::skymont());
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::skymont {

using namespace event_rows;

constexpr auto table =
    join(gracemont_common, goldmont_and_gracemont_branches, crestmont_load_sources, skymont_fixed, skymont_fp,
         crestmont_front_end, architectural_lbr_inserts, tremont_off_core, gracemont_bandwidth,
         gracemont_more, crestmont_more, skymont_reasons);
constexpr Product products[] = {{6, 0xBD}, {6, 0xC5}, {6, 0xC6}};
constexpr ProductName names[] = {
    {"arrowlake", "skymont"}, {"arrowlake-s", "skymont"}, {"lunarlake", "skymont"}};
constexpr Preset product_presets[] = {presets::skymont, presets::arrowlake_h_atom};

constexpr LastLevelEvents last_level_rows[] = {{.event = 0x01B7,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = demand_last_level(any_response, 0x13F'BFC0'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::skymont,
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

}  // namespace cores::skymont
}  // namespace pmusim
