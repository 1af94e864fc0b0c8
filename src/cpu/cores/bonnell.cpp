// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "early_atom_family.h"
#include "presets.h"
#include "shared/shared.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber bonnell_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 2, published),
    count("retire_width", &CoreParameters::retire_width, 2, recalled),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 32, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 32, inferred),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 16, inferred),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 8, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 8, recalled),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 0, recalled),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 16, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 4, measured),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 4, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, published),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 6, measured),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 2, measured),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 0, recalled),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 0, inferred),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 17, measured),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 7, recalled),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 32, published),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 0, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 2, recalled),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 16, recalled),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, inferred),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, inferred),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 1, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 150, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 128, published),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 8, published),
    count("predictor_tables", &CoreParameters::predictor_tables, 2, inferred),
    count("predictor_entries", &CoreParameters::predictor_entries, 512, inferred),
    count("predictor_history", &CoreParameters::predictor_history, 12, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 183, measured),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 0, cpuid),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 18, measured),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 32, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 32, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 64, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 4, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 0, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 1, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 3}, cpuid),
    cache("l1d", &CoreParameters::l1d, {24 * kib, 6, 64, 3}, measured),
    cache("l2", &CoreParameters::l2, {512 * kib, 8, 64, 16}, measured),
    cache("l3", &CoreParameters::l3, {0, 0, 64, 0}, cpuid),
    clock("tsc_hz", &CoreParameters::tsc_hz, 1595'000'000, measured),
};
}  // namespace

/// The first Atom: two counters of 40 bits. Leaf 0AH of the later steppings (Pineview) is the one given here.
CpuModel bonnell() {
  CpuModel m;
  m.name = "bonnell";
  m.title = "Bonnell";
  m.pfm_name = "atom";
  m.core_type = CoreType::atom;
  m.model = 0x1C;
  m.stepping = 10;
  m.perfmon_version = 3;
  m.gp_counters = 0x3;
  m.fixed_counters = 0x7;
  m.counter_width = 40;
  m.arch_events = 0x7F;
  m.perf_capabilities = 0x10C2;
  m.anythread = true;
  m.has_rdtscp = m.has_ibpb = false;
  m.xcr0 = 0;
  m.lbr = {.depth = 8, .format = LbrFormat::eip, .from_base = msr::LBR_CORE_FROM_IP};
  m.pebs = {.format = 0, .counters = 0x1};
  m.core.bus_hz = 133'333'333;
  use(m.core, bonnell_numbers, costs::bonnell());
  m.core.issue_order = IssueOrder::in_order;
  return m;
}

}  // namespace presets

namespace cores::bonnell {

using namespace event_rows;

constexpr std::array bonnell_own{
    row("CPU_CLK_UNHALTED.CORE_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.BUS", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("BR_INST_RETIRED.ANY", 0xC4, 0x00, on(branch)),
    row("BR_INST_RETIRED.PRED_NOT_TAKEN", 0xC4, 0x01, on_but_not(conditional_not_taken, mispredicted)),
    row("BR_INST_RETIRED.MISPRED_NOT_TAKEN", 0xC4, 0x02, on(mispredicted_conditional_not_taken)),
    row("BR_INST_RETIRED.PRED_TAKEN", 0xC4, 0x04, on_but_not(near_taken, mispredicted)),
    row("BR_INST_RETIRED.MISPRED_TAKEN", 0xC4, 0x08, on(mispredicted_near_taken)),
    row("BR_INST_RETIRED.MISPRED", 0xC4, 0x0A, on(mispredicted)),
    row("BR_INST_RETIRED.TAKEN", 0xC4, 0x0C, on(near_taken)),
    row("MEM_LOAD_RETIRED.L2_HIT", 0xCB, 0x01, on(load_l2_hit)),
    row("MEM_LOAD_RETIRED.L2_MISS", 0xCB, 0x02, on(load_l2_miss)),
    row("MEM_LOAD_RETIRED.DTLB_MISS", 0xCB, 0x04, on(load_dtlb_miss)),
    row("ITLB.MISSES", 0x82, 0x02, on(itlb_miss)),
    row("DATA_TLB_MISSES.DTLB_MISS_LD", 0x08, 0x05, on(load_dtlb_miss)),
    row("DATA_TLB_MISSES.DTLB_MISS_ST", 0x08, 0x06, on(store_dtlb_miss)),
    row("DATA_TLB_MISSES.DTLB_MISS", 0x08, 0x07, on_any({load_dtlb_miss, store_dtlb_miss})),
    row("UOPS_RETIRED.ANY", 0xC2, 0x10, sum(Q::uops)),
};

constexpr auto table =
    join(architectural_rows, early_atom, bonnell_own, shared_rows<Microarchitecture::bonnell>());
constexpr Product products[] = {{6, 0x1C}, {6, 0x26}, {6, 0x27}, {6, 0x35}, {6, 0x36}};
constexpr Preset product_presets[] = {presets::bonnell};

constinit const CoreFacts facts{
    .core = Microarchitecture::bonnell,
    .type = CoreType::atom,
    .products = products,
    .presets = product_presets,
    .events = table,
};

}  // namespace cores::bonnell
}  // namespace pmusim
