// SPDX-License-Identifier: MIT
#include "core_events.h"
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "presets.h"
#include "shared/shared.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber core2_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 4, recalled),
    count("retire_width", &CoreParameters::retire_width, 4, recalled),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 96, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 32, published),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 32, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 20, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 8, recalled),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, recalled),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 32, recalled),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 1, measured),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 2, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, inferred),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 8, inferred),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, recalled),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 2, measured),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 256, recalled),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 15, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 7, recalled),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 7, recalled),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 18, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 4, recalled),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 16, recalled),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, inferred),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 6, recalled),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 5, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 150, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 2048, recalled),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 16, recalled),
    count("predictor_tables", &CoreParameters::predictor_tables, 2, inferred),
    count("predictor_entries", &CoreParameters::predictor_entries, 512, inferred),
    count("predictor_history", &CoreParameters::predictor_history, 8, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 236, measured),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 0, cpuid),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 7, measured),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 128, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 4, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 256, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 4, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 0, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 1, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 3}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 3}, measured),
    cache("l2", &CoreParameters::l2, {4 * mib, 16, 64, 14}, measured),
    cache("l3", &CoreParameters::l3, {0, 0, 64, 0}, cpuid),
    clock("tsc_hz", &CoreParameters::tsc_hz, 2936'000'000, measured),
};
constexpr CoreNumber penryn_numbers[] = {
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 271, measured),
    cache("l2", &CoreParameters::l2, {6 * mib, 24, 64, 15}, measured),
    clock("tsc_hz", &CoreParameters::tsc_hz, 2999'000'000, measured),
};
}  // namespace

namespace {
CpuModel core2() {
  CpuModel m = yonah();
  m.name = "core2";
  m.title = "Core 2 (Merom)";
  m.pfm_name = "core";
  m.model = 0x0F;
  m.stepping = 11;
  m.perfmon_version = 2;
  m.fixed_counters = 0x7;
  m.perf_capabilities = 0x10C2;
  m.has_pdcm = true;
  m.lbr = {.depth = 4, .format = LbrFormat::eip, .from_base = msr::LBR_CORE_FROM_IP};
  m.pebs = {.format = 0, .counters = 0x1};
  m.core.bus_hz = 266'666'667;
  use(m.core, core2_numbers, costs::core2());
  return m;
}

CpuModel penryn() {
  CpuModel m = core2();
  m.name = "penryn";
  m.title = "Core 2 (Penryn)";
  m.model = 0x17;
  m.stepping = 10;
  m.xcr0 = 0x3;
  use_product(m.core, penryn_numbers, costs::penryn());
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::core2 {

using namespace event_rows;

constexpr std::array own{
    row("INST_RETIRED.ANY_P", 0xC0, 0x00, on(instruction)),
    row("INST_RETIRED.LOADS", 0xC0, 0x01, on(load)),
    row("INST_RETIRED.STORES", 0xC0, 0x02, on(store)),
    row("CPU_CLK_UNHALTED.CORE_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.BUS", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("BR_INST_RETIRED.ANY", 0xC4, 0x00, on(branch)),
    row("BR_INST_RETIRED.PRED_NOT_TAKEN", 0xC4, 0x01, on_but_not(conditional_not_taken, mispredicted)),
    row("BR_INST_RETIRED.MISPRED_NOT_TAKEN", 0xC4, 0x02, on(mispredicted_conditional_not_taken)),
    row("BR_INST_RETIRED.PRED_TAKEN", 0xC4, 0x04, on_but_not(near_taken, mispredicted)),
    row("BR_INST_RETIRED.MISPRED_TAKEN", 0xC4, 0x08, on(mispredicted_near_taken)),
    row("BR_INST_RETIRED.TAKEN", 0xC4, 0x0C, on(near_taken)),
    row("BR_INST_RETIRED_MISPRED", 0xC5, 0x00, on(mispredicted)),
    row("MEM_LOAD_RETIRED.L1D_MISS", 0xCB, 0x01, on(load_l1_miss)),
    row("MEM_LOAD_RETIRED.L2_MISS", 0xCB, 0x04, on(load_l2_miss)),
    row("MEM_LOAD_RETIRED.DTLB_MISS", 0xCB, 0x10, on(load_dtlb_miss)),
    row("DTLB_MISSES.ANY", 0x08, 0x01, on_any({load_dtlb_miss, store_dtlb_miss})),
    row("DTLB_MISSES.MISS_LD", 0x08, 0x02, on(load_dtlb_miss)),
    row("DTLB_MISSES.MISS_ST", 0x08, 0x08, on(store_dtlb_miss)),
    row("PAGE_WALKS.CYCLES", 0x0C, 0x02, sum(Q::page_walk_cycles)),
    row("ITLB_MISS_RETIRED", 0xC9, 0x00, on(itlb_miss)),
    row("L1I_MISSES", 0x81, 0x00, on(l1i_miss)),
    row("L1D_REPL", 0x45, 0x0F, on_any({load_l1_miss, store_l1_miss})),
    row("UOPS_RETIRED.ANY", 0xC2, 0x0F, sum(Q::uops)),
    row("X87_OPS_RETIRED.ANY", 0xC1, 0xFE, on(x87)),
    row("RESOURCE_STALLS.BR_MISS_CLEAR", 0xDC, 0x10, sum(Q::recovery_cycles)),
    row("BACLEARS", 0xE6, 0x00, on(front_end_resteer)),
    row("LOAD_BLOCK.OVERLAP_STORE", 0x03, 0x08, on_any({store_forward_blocked, address_alias})),
    row("MACHINE_NUKES.SMC", 0xC3, 0x01, on(self_modifying_clear)),
    row("MACHINE_NUKES.MEM_ORDER", 0xC3, 0x04, on(memory_ordering_clear)),
};

constexpr auto table = join(fixed_three, own, architectural_names, architectural_mispredicts,
                            shared_rows<Microarchitecture::core2>());
/// Event and umask, or any umask.
constexpr PebsEvent pebs_events[] = {{0xC0, 0x00}, {0xC1, 0xFE}, {0xC5, 0x00}, {0xC7, 0x1F}, {0xCB}};
constexpr Product products[] = {{6, 0x0F, PebsErrata::unusable}, {6, 0x16}, {6, 0x17}, {6, 0x1D}};
constexpr Preset product_presets[] = {presets::core2, presets::penryn};

constinit const CoreFacts facts{
    .core = Microarchitecture::core2,
    .products = products,
    .presets = product_presets,
    .events = table,
    .pebs_events = {.kind = PebsEvents::Kind::listed, .listed = pebs_events},
};

}  // namespace cores::core2
}  // namespace pmusim
