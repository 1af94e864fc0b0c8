// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "rules.h"
#include "shared/shared.h"
#include "skylake_family.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber icelake_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 5, published),
    count("retire_width", &CoreParameters::retire_width, 8, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 352, measured),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 160, measured),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 128, measured),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 72, measured),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 12, published),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, inferred),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 32, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 4, inferred),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 2, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, inferred),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 32, inferred),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 1, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 3, inferred),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 256, inferred),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 17, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 10, published),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 70, measured),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 384, published),
    count("uop_cache_ways", &CoreParameters::uop_cache_ways, 8, published),
    count("uop_cache_line_uops", &CoreParameters::uop_cache_line_uops, 6, published),
    count("uop_cache_window_bytes", &CoreParameters::uop_cache_window_bytes, 32, published),
    count("uop_cache_window_lines", &CoreParameters::uop_cache_window_lines, 3, published),
    count("uop_cache_uops_per_cycle", &CoreParameters::uop_cache_uops_per_cycle, 6, measured),
    count("decoder_switch_cycles", &CoreParameters::decoder_switch_cycles, 2, published),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 70, measured),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 1, measured),
    count("decoders", &CoreParameters::decoders, 4, published),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 16, measured),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, published),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, recalled),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 4, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 90, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 5120, published),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 16, measured),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 250, inferred),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 5, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 15, inferred),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 128, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 8, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 64, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 4, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 2048, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 16, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {48 * kib, 12, 64, 5}, measured),
    cache("l2", &CoreParameters::l2, {512 * kib, 8, 64, 13}, measured),
    cache("l3", &CoreParameters::l3, {8 * mib, 16, 64, 50}, inferred),
    clock("tsc_hz", &CoreParameters::tsc_hz, 1498'000'000, cpuid),
};
constexpr CoreNumber icelake_server_numbers[] = {
    cache("l2", &CoreParameters::l2, {1280 * kib, 20, 64, 14}, recalled),
    cache("l3", &CoreParameters::l3, {48 * mib, 12, 64, 65}, published),
    clock("tsc_hz", &CoreParameters::tsc_hz, 2000'000'000, cpuid),
};
constexpr CoreNumber tigerlake_numbers[] = {
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 4, measured),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 3, measured),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 316, measured),
    cache("l2", &CoreParameters::l2, {1280 * kib, 20, 64, 14}, measured),
    cache("l3", &CoreParameters::l3, {12 * mib, 12, 64, 72}, measured),
    clock("tsc_hz", &CoreParameters::tsc_hz, 2419'000'000, measured),
};
constexpr CoreNumber rocketlake_numbers[] = {
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 4, measured),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 3, measured),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 272, measured),
    cache("l3", &CoreParameters::l3, {16 * mib, 16, 64, 57}, measured),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3503'000'000, measured),
};
}  // namespace

namespace {
/// Sunny Cove: eight counters per logical processor, TOPDOWN.SLOTS in fixed counter 3, PERF_METRICS, adaptive
/// PEBS on every counter.
CpuModel icelake() {
  CpuModel m = skylake();
  m.name = "icelake";
  m.title = "Ice Lake";
  m.pfm_name = "icl";
  m.model = 0x7E;
  m.stepping = 5;
  m.perfmon_version = 5;
  m.gp_counters = 0xFF;
  m.fixed_counters = 0xF;
  m.arch_events = 0xFF;
  m.arch_events_length = 8;
  m.perf_capabilities = 0xF4C5;
  m.anythread = false;
  m.rtm = m.hle = m.has_tsx_force_abort = false;
  m.metrics_levels = 1;
  m.offcore_rsp = {0x3FFFFFBFFF, 0x3FFFFFBFFF};
  m.xcr0 = 0x2E7;
  m.pebs.format = 4;
  m.pebs.counters = 0xFF | fixed(0xF);
  m.pebs.distribution = fixed(1);
  m.pebs.baseline = true;
  use(m.core, icelake_numbers, costs::icelake());
  use_rules<RuleSet::ice_lake>(m.core);
  m.core.macro_fusion = MacroFusion::ice_lake;
  m.core.port_events = PortEvents::shared;
  m.core.move_elimination = MoveElimination::vector;
  return m;
}

}  // namespace

CpuModel icelake_server() {
  CpuModel m = icelake();
  m.name = "icelake-server";
  m.title = "Ice Lake server";
  m.pfm_name = "icx";
  m.model = 0x6A;
  m.stepping = 6;
  m.rtm = m.hle = true;
  use_product(m.core, icelake_server_numbers, costs::icelake_server());
  return m;
}

namespace {
CpuModel tigerlake() {
  CpuModel m = icelake();
  m.name = "tigerlake";
  m.title = "Tiger Lake";
  m.model = 0x8C;
  m.stepping = 1;
  m.has_bus_lock_detect = true;
  m.xss = 0x3900;
  use_product(m.core, tigerlake_numbers, costs::tigerlake());
  return m;
}

CpuModel rocketlake() {
  CpuModel m = icelake();
  m.name = "rocketlake";
  m.title = "Rocket Lake";
  m.model = 0xA7;
  m.stepping = 1;
  use_product(m.core, rocketlake_numbers, costs::rocketlake());
  m.core.move_elimination = MoveElimination::all;
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::ice_lake {

using namespace event_rows;

constexpr std::array own{
    row("INST_RETIRED.PREC_DIST", 0x00, 0x01, on(instruction)),
    row("INST_RETIRED.NOP", 0xC0, 0x02, on(nop)),
    fewer_than(1, row("INST_RETIRED.STALL_CYCLES", 0xC0, 0x01, on(instruction))),
    row("CPU_CLK_UNHALTED.DISTRIBUTED", 0xEC, 0x02, sum(Q::cycles)),
    row("TOPDOWN.SLOTS", 0x00, 0x04, sum(Q::slots)),
    row("TOPDOWN.SLOTS_P", 0xA4, 0x01, sum(Q::slots)),
    row("TOPDOWN.BACKEND_BOUND_SLOTS", 0xA4, 0x02, sum(Q::slots_backend)),
    row("TOPDOWN.BR_MISPREDICT_SLOTS", 0xA4, 0x08, sum(Q::slots_branch_mispredict)),
    begins(row("INT_MISC.CLEARS_COUNT", 0x0D, 0x01, sum(Q::recovery_cycles))),
    // Slots that allocation drops look like the front end's; here each lost slot is charged to who lost it.
    row("INT_MISC.UOP_DROPPING", 0x0D, 0x10, never()),
};

constexpr auto table =
    join(fixed_three, haswell_clocks, architectural_cache, ice_lake_branches, skylake_memory_instructions,
         skylake_load_sources, local_memory_loads, load_latency_samples, front_end_retired(0x01), haswell_l2,
         skylake_l2_hits, l1d_replacement, skylake_l2_lines, sandy_bridge_load_blocks,
         sandy_bridge_off_core_requests, skylake_off_core_requests, ice_lake_snoops, remote_loads,
         haswell_small_page_walks, ice_lake_pauses, skylake_tlb, skylake_icache, resteers,
         skylake_machine_clears, skylake_recovery, skylake_stalls, uops_retired_slots, slots_not_delivered,
         ice_lake_lbr_inserts, haswell_transactions, broadwell_fp_arithmetic, skylake_x_fp_arithmetic, own,
         off_core(0xB7, {0x10001, 0x3FFFC00001, 0x10002, 0x3FFFC00002}), architectural_names,
         architectural_mispredicts, shared_rows<Microarchitecture::ice_lake>());
constexpr Product products[] = {{6, 0x7D}, {6, 0x7E}, {6, 0x6A}, {6, 0x6C},
                                {6, 0x8C}, {6, 0x8D}, {6, 0xA7}, {6, 0x8A}};
constexpr ProductName names[] = {{"lakefield", "icelake"}};
constexpr Preset product_presets[] = {presets::icelake, presets::icelake_server, presets::tigerlake,
                                      presets::rocketlake};

constexpr u32 servers[] = {0x6A, 0x6C};
constexpr LastLevelEvents last_level_rows[] = {
    {.event = 0x01B7,
     .models = servers,
     .edition = CacheTable::Edition::corrected,
     .values = {0x10001, 0x3F'BFC0'0001, 0x3F'3FFC'0002, 0x3F'3FC0'0002}}};

constinit const CoreFacts facts{
    .core = Microarchitecture::ice_lake,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .cache_events = skylake_cache,
    .last_level = last_level_rows,
    .named_events = haswell_memory,
    .off_core = skylake_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores::ice_lake
}  // namespace pmusim
