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

constexpr CoreNumber gracemont_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 5, published),
    count("retire_width", &CoreParameters::retire_width, 8, recalled),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 256, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 140, inferred),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 80, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 50, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 16, recalled),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, recalled),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 16, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 8, measured),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 8, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, published),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 16, measured),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 2, measured),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 0, recalled),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 14, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 5, inferred),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 64, published),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 0, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 6, published),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 32, published),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, inferred),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, inferred),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 7, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 100, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 5120, published),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 64, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 265, measured),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 6, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 17, measured),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 64, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 64, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 48, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 48, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 2048, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 4, cpuid),
    cache("l1i", &CoreParameters::l1i, {64 * kib, 8, 64, 3}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 3}, measured),
    cache("l2", &CoreParameters::l2, {2 * mib, 16, 64, 19}, measured),
    cache("l3", &CoreParameters::l3, {6 * mib, 12, 64, 55}, measured),
    clock("tsc_hz", &CoreParameters::tsc_hz, 1690'000'000, cpuid),
};
}  // namespace

/// Six counters, architectural LBR, load and store latency on an Atom. As in Alder Lake-N, which has no P
/// core.
CpuModel gracemont() {
  CpuModel m = tremont();
  m.name = "gracemont";
  m.title = "Gracemont (Alder Lake-N)";
  m.pfm_name = "";
  m.model = 0xBE;
  m.stepping = 0;
  m.native_model_id = 1;
  m.gp_counters = 0x3F;
  m.perf_capabilities = 0x174FF;
  m.has_pperf = true;
  m.has_bus_lock_detect = true;
  m.reference_event_is_tsc = true;
  m.offcore_rsp = {0x3FFFFFFFFF, 0x3FFFFFFFFF};
  m.xcr0 = 0x207;
  m.xss = 0xD900;
  m.lbr = architectural_lbr(lbr_deep_cstate_reset | lbr_linear_ip, lbr_records);
  m.pebs.counters = 0x3F | fixed(0x7);
  m.pebs.load_latency = true;
  m.pebs.latency_split = true;
  m.pebs.data_source = DataSourceEncoding::gracemont;
  use(m.core, gracemont_numbers, costs::gracemont());
  return m;
}

}  // namespace presets

namespace cores::gracemont {

using namespace event_rows;

constexpr std::array gracemont_only{
    row("MEM_LOAD_UOPS_RETIRED.L3_HIT", 0xD1, 0x04, on(load_l3_hit)),
};
constexpr std::array gracemont_retiring{
    row("TOPDOWN_RETIRING.ALL", 0xC2, 0x00, sum(Q::uops)),
};

constexpr auto table = join(gracemont_common, goldmont_and_gracemont_branches, goldmont_load_sources,
                            gracemont_only, tremont_slots, gracemont_slots, gracemont_retiring,
                            tremont_memory_stalls, tremont_off_core, gracemont_bandwidth, gracemont_more);

constexpr auto named =
    join(gracemont_memory_names,
         std::array{NamedEncoding{"topdown-fe-bound", 0x0071}, NamedEncoding{"topdown-be-bound", 0x0074},
                    NamedEncoding{"topdown-bad-spec", 0x0073}, NamedEncoding{"topdown-retiring", 0x00C2}});
constexpr Product products[] = {{6, 0xBE}, {6, 0x97}, {6, 0x9A}, {6, 0xB7}, {6, 0xBA}, {6, 0xBF}};
constexpr ProductName names[] = {{"alderlake", "gracemont"}, {"raptorlake", "gracemont"}};
constexpr Preset product_presets[] = {presets::gracemont};

constexpr LastLevelEvents last_level_rows[] = {{.event = 0x01B7,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = demand_last_level(any_response, 0x3F'8440'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::gracemont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = tremont_cache,
    .last_level = last_level_rows,
    .named_events = named,
    .off_core = atom_off_core,
};

}  // namespace cores::gracemont
}  // namespace pmusim
