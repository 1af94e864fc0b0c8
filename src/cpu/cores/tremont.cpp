// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "goldmont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "shared/shared.h"
#include "tremont_family.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber tremont_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 4, published),
    count("retire_width", &CoreParameters::retire_width, 4, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 208, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 100, inferred),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 78, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 49, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 8, inferred),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, recalled),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 16, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 4, measured),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 4, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, published),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 8, measured),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 2, measured),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 0, recalled),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 13, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 5, inferred),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 64, inferred),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 0, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 6, published),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 32, published),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, inferred),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, inferred),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 6, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 100, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 4096, inferred),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 16, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 177, measured),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 6, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 17, measured),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 48, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 48, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 48, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 48, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 1024, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 4, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 3}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 3}, measured),
    cache("l2", &CoreParameters::l2, {4608 * kib, 18, 64, 20}, recalled),
    cache("l3", &CoreParameters::l3, {4 * mib, 16, 64, 53}, measured),
    clock("tsc_hz", &CoreParameters::tsc_hz, 1996'000'000, measured),
};
}  // namespace

/// Adaptive PEBS on an Atom, also into a PT stream.
CpuModel tremont() {
  CpuModel m = goldmont_plus();
  m.name = "tremont";
  m.title = "Tremont";
  m.pfm_name = "tmt";
  m.model = 0x86;
  m.stepping = 5;
  m.perfmon_version = 5;
  m.perf_capabilities = 0x174C7;
  m.offcore_rsp = {0x800FF0FFFFFF9FFF, 0x000FF0FFFFFF9FFF};
  m.xcr0 = 0x3;
  m.pebs.format = 4;
  m.pebs.distribution = bit(0) | fixed(1);
  m.pebs.baseline = true;
  use(m.core, tremont_numbers, costs::tremont());
  return m;
}

}  // namespace presets

namespace cores::tremont {

using namespace event_rows;

constexpr std::array tremont_own{
    row("CPU_CLK_UNHALTED.REF_TSC_P", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("MEM_LOAD_UOPS_RETIRED.L3_HIT", 0xD1, 0x04, on(load_l3_hit)),
    row("L2_REQUEST.ALL", 0x24, 0x00, sum(Q::l2_requests)),
    row("L2_REQUEST.MISS", 0x24, 0x01, sum(Q::l2_misses)),
    row("ITLB.FILLS", 0x81, 0x04, on(itlb_miss)),
    row("TOPDOWN_BAD_SPECULATION.ALL", 0x73, 0x06, sum(Q::slots_bad_speculation)),
    row("TOPDOWN_RETIRING.ALL", 0xC2, 0x00, sum(Q::uops)),
    row("MACHINE_CLEARS.ANY", 0xC3, 0x00, on(machine_clear)),
};

constexpr auto table =
    join(goldmont_common, tremont_own, skylake_tlb, goldmont_plus_walks, atom_resteers, tremont_slots,
         tremont_memory_stalls, tremont_off_core, shared_rows<Microarchitecture::tremont>());

constexpr NamedEncoding named[] = {{"topdown-fe-bound", 0x0071},
                                   {"topdown-be-bound", 0x0074},
                                   {"topdown-bad-spec", 0x0673},
                                   {"topdown-retiring", 0x00C2}};
constexpr Product products[] = {{6, 0x86}, {6, 0x96}, {6, 0x9C}, {6, 0x8A}};
constexpr ProductName names[] = {{"lakefield", "tremont"}};
constexpr Preset product_presets[] = {presets::tremont};

constinit const CoreFacts facts{
    .core = Microarchitecture::tremont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .cache_events = tremont_cache,
    .named_events = named,
    .off_core = atom_off_core,
};

}  // namespace cores::tremont
}  // namespace pmusim
