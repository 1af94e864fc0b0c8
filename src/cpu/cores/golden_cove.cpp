// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "rules.h"
#include "shared/shared.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber sapphirerapids_numbers[] = {
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
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 144, published),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 512, published),
    count("uop_cache_ways", &CoreParameters::uop_cache_ways, 8, published),
    count("uop_cache_line_uops", &CoreParameters::uop_cache_line_uops, 8, published),
    count("uop_cache_window_bytes", &CoreParameters::uop_cache_window_bytes, 64, recalled),
    count("uop_cache_window_lines", &CoreParameters::uop_cache_window_lines, 6, inferred),
    count("uop_cache_uops_per_cycle", &CoreParameters::uop_cache_uops_per_cycle, 8, published),
    count("decoder_switch_cycles", &CoreParameters::decoder_switch_cycles, 2, published),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 72, compiler),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 1, compiler),
    count("decoders", &CoreParameters::decoders, 6, published),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 32, published),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, published),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, recalled),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 6, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 90, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 12288, published),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 24, recalled),
    count("predictor_tables", &CoreParameters::predictor_tables, 6, inferred),
    count("predictor_entries", &CoreParameters::predictor_entries, 1024, inferred),
    count("predictor_history", &CoreParameters::predictor_history, 194, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 300, recalled),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 5, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 15, inferred),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 256, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 8, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 96, published),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 6, published),
    count("stlb_entries", &CoreParameters::stlb_entries, 2048, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 16, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {48 * kib, 12, 64, 5}, measured),
    cache("l2", &CoreParameters::l2, {2 * mib, 16, 64, 16}, recalled),
    cache("l3", &CoreParameters::l3, {105 * mib, 15, 64, 73}, recalled),
    clock("tsc_hz", &CoreParameters::tsc_hz, 2592'000'000, cpuid),
};
constexpr CoreNumber emeraldrapids_numbers[] = {
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 250, recalled),
    cache("l2", &CoreParameters::l2, {2 * mib, 16, 64, 16}, inferred),
    cache("l3", &CoreParameters::l3, {160 * mib, 20, 64, 75}, inferred),
    clock("tsc_hz", &CoreParameters::tsc_hz, 2200'000'000, cpuid),
};
constexpr CoreNumber goldencove_numbers[] = {
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 307, measured),
    cache("l2", &CoreParameters::l2, {1280 * kib, 10, 64, 15}, measured),
    cache("l3", &CoreParameters::l3, {30 * mib, 12, 64, 65}, measured),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3187'000'000, measured),
};
}  // namespace

/// Sapphire Rapids: Golden Cove with architectural LBR and all eight bytes of PERF_METRICS.
CpuModel sapphirerapids() {
  CpuModel m = icelake_server();
  m.name = "sapphirerapids";
  m.title = "Sapphire Rapids";
  m.pfm_name = "spr";
  m.model = 0x8F;
  m.stepping = 8;
  m.perf_capabilities = 0xF4FF;
  m.metrics_levels = 2;
  m.has_bus_lock_detect = true;
  m.reference_event_is_tsc = true;
  m.offcore_rsp = {0x3FFFFFFFFF, 0x3FFFFFFFFF};
  m.xcr0 = 0x602E7;
  m.xss = 0xDD00;
  m.lbr = architectural_lbr(lbr_deep_cstate_reset, lbr_records);
  m.pebs.distribution = bit(0) | fixed(1);
  m.pebs.latency_split = true;
  m.pebs.data_source = DataSourceEncoding::golden_cove;
  use(m.core, sapphirerapids_numbers, costs::golden_cove());
  use_rules<RuleSet::golden_cove>(m.core);
  m.core.move_elimination = MoveElimination::all;
  return m;
}

namespace {
CpuModel emeraldrapids() {
  CpuModel m = sapphirerapids();
  m.name = "emeraldrapids";
  m.title = "Emerald Rapids";
  m.model = 0xCF;
  m.stepping = 2;
  use_product(m.core, emeraldrapids_numbers, costs::golden_cove());
  return m;
}

/// Golden Cove as the P core of Alder Lake: leaf 0AH shows what it shares with Gracemont. So does
/// PERF_CAPABILITIES, but for metrics: the erratum that clears its bit 15 is of Raptor Lake and Meteor Lake
/// (RPL018), and Linux 7.3 takes it as it reads here.
CpuModel goldencove() {
  CpuModel m = sapphirerapids();
  m.name = "goldencove";
  m.title = "Golden Cove (Alder Lake P core)";
  m.model = 0x97;
  m.stepping = 2;
  m.hybrid = true;
  m.native_model_id = 1;
  m.package_view = CommonView{.gp_counters = 0x3F, .fixed_counters = 0x7, .arch_events = 0x7F};
  m.arch_events_length = 7;
  m.perf_capabilities = 0xF4FF;
  m.rtm = m.hle = false;
  m.xcr0 = 0x207;
  m.xss = 0xD900;
  use_product(m.core, goldencove_numbers, costs::golden_cove());
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::golden_cove {

using namespace event_rows;

constexpr auto table =
    join(before_lion_cove, front_end_retired(0x01), shared_rows<Microarchitecture::golden_cove>());
constexpr auto named = join(golden_cove_memory_names, std::array{NamedEncoding{"mem-loads-aux", 0x8203}});
constexpr Product products[] = {{6, 0x97}, {6, 0x9A}, {6, 0xB7}, {6, 0xBA},
                                {6, 0xBF}, {6, 0x8F}, {6, 0xCF}, {6, 0xD7}};
constexpr ProductName names[] = {{"alderlake", "goldencove"}, {"raptorlake", "goldencove"}};
constexpr Preset product_presets[] = {presets::goldencove, presets::sapphirerapids, presets::emeraldrapids};

constexpr u32 servers[] = {0x8F, 0xCF};
constexpr LastLevelEvents last_level_rows[] = {
    {.event = 0x012A, .models = servers, .values = {0x10001, 0x3F'BFC0'0001, 0x3F'3FFC'0002, 0x3F'3FC0'0002}},
    {.event = 0x012A, .edition = CacheTable::Edition::corrected, .values = client_last_level}};

constinit const CoreFacts facts{
    .core = Microarchitecture::golden_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .last_level = last_level_rows,
    .named_events = named,
    .off_core = golden_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores::golden_cove
}  // namespace pmusim
