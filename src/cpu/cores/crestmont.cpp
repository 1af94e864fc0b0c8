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

constexpr CoreNumber sierraforest_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 6, published),
    count("retire_width", &CoreParameters::retire_width, 8, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 256, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 140, inferred),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 80, inferred),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 50, inferred),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 16, recalled),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, recalled),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 16, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 4, measured),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 4, inferred),
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
    count("btb_entries", &CoreParameters::btb_entries, 6144, recalled),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 64, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 300, inferred),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 6, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 17, measured),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 64, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 64, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 48, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 48, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 3072, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 6, cpuid),
    cache("l1i", &CoreParameters::l1i, {64 * kib, 8, 64, 3}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 3}, measured),
    cache("l2", &CoreParameters::l2, {4 * mib, 16, 64, 19}, inferred),
    cache("l3", &CoreParameters::l3, {108 * mib, 12, 64, 80}, inferred),
    clock("tsc_hz", &CoreParameters::tsc_hz, 2200'000'000, inferred),
};
constexpr CoreNumber crestmont_numbers[] = {
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 332, measured),
    cache("l2", &CoreParameters::l2, {2 * mib, 16, 64, 19}, measured),
    cache("l3", &CoreParameters::l3, {24 * mib, 12, 64, 56}, measured),
    clock("tsc_hz", &CoreParameters::tsc_hz, 2995'000'000, measured),
};
}  // namespace

namespace {
/// Crestmont as in Sierra Forest: eight counters, leaf 23H, branch counters in the LBR. No dump seen; follows
/// Meteor Lake's E core in the rest.
CpuModel sierraforest() {
  CpuModel m = gracemont();
  m.name = "sierraforest";
  m.title = "Sierra Forest (Crestmont)";
  m.model = 0xAF;
  m.stepping = 3;
  m.native_model_id = 2;
  m.gp_counters = 0xFF;
  m.perf_capabilities = 0x275FF;
  m.arch_perfmon_ext = true;
  m.offcore_rsp = {0x800FF3FFFFFFFFFF, 0x000FF3FFFFFFFFFF};
  m.snoop_rsp = ~u64{0};
  m.lbr.cpuid_1c_ecx = lbr_records_and_counters;
  m.xss = 0xDD00;
  m.pebs.format = 5;
  m.pebs.counters = 0xFF | fixed(0x7);
  m.pebs.distribution = bit(0) | bit(1) | fixed(1);
  m.pebs.data_source = DataSourceEncoding::crestmont;
  use(m.core, sierraforest_numbers, costs::crestmont());
  return m;
}

}  // namespace

/// The E core of Meteor Lake; leaf 0AH happens to describe it in full.
CpuModel crestmont() {
  CpuModel m = sierraforest();
  m.name = "crestmont";
  m.title = "Crestmont (Meteor Lake E core)";
  m.model = 0xAA;
  m.stepping = 4;
  m.hybrid = true;
  m.lbr.cpuid_1c_ecx = lbr_records;
  m.xss = 0xD900;
  use_product(m.core, crestmont_numbers, costs::crestmont());
  return m;
}

}  // namespace presets

namespace cores::crestmont {

using namespace event_rows;

constexpr std::array crestmont_retiring{
    row("TOPDOWN_RETIRING.ALL", 0x72, 0x00, sum(Q::uops)),
};

constexpr auto table =
    join(gracemont_common, goldmont_and_gracemont_branches, crestmont_load_sources, tremont_slots,
         gracemont_slots, crestmont_retiring, tremont_memory_stalls, crestmont_front_end,
         architectural_lbr_inserts, tremont_off_core, gracemont_bandwidth, gracemont_more, crestmont_more);

constexpr auto named =
    join(gracemont_memory_names,
         std::array{NamedEncoding{"topdown-fe-bound", 0x0071}, NamedEncoding{"topdown-be-bound", 0x0074},
                    NamedEncoding{"topdown-bad-spec", 0x0073}, NamedEncoding{"topdown-retiring", 0x0072}});
constexpr Product products[] = {{6, 0xAF}, {6, 0xB6}, {6, 0xAC}, {6, 0xAA}, {6, 0xB5}};
constexpr ProductName names[] = {{"meteorlake", "crestmont"}, {"grandridge", "sierraforest"}};
constexpr Preset product_presets[] = {presets::crestmont, presets::sierraforest};

constexpr LastLevelEvents last_level_rows[] = {{.event = 0x01B7,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = demand_last_level(any_response, 0x3F'BFC0'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::crestmont,
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

}  // namespace cores::crestmont
}  // namespace pmusim
