// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "early_atom_family.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "shared/shared.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber knightslanding_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 2, published),
    count("retire_width", &CoreParameters::retire_width, 2, recalled),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 72, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 76, published),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 16, inferred),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 16, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 12, recalled),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 0, inferred),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 16, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 4, inferred),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 4, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, inferred),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 8, inferred),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 2, inferred),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 0, inferred),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 12, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 5, published),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 32, inferred),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 0, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 2, published),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 16, published),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, inferred),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, inferred),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 9, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 100, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 4096, inferred),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 16, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 195, recalled),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 0, cpuid),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 18, inferred),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 48, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 48, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 256, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 8, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 0, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 1, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 3}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, measured),
    cache("l2", &CoreParameters::l2, {1 * mib, 16, 64, 17}, recalled),
    cache("l3", &CoreParameters::l3, {0, 0, 64, 0}, cpuid),
    clock("tsc_hz", &CoreParameters::tsc_hz, 1300'000'000, recalled),
};
}  // namespace

namespace {
CpuModel knightslanding() {
  CpuModel m = silvermont();
  m.name = "knightslanding";
  m.title = "Knights Landing";
  m.pfm_name = "knl";
  m.model = 0x57;
  m.stepping = 1;
  m.leaf_0a_edx_strays = 0;
  m.perf_capabilities = 0x12C1;
  m.offcore_rsp = {0x799FFBB6E7, 0x399FFBFFE7};
  m.xcr0 = 0xE7;
  m.lbr = {.depth = 8, .format = LbrFormat::eip_flags, .has_select = true, .from_base = msr::LBR_NHM_FROM_IP};
  use(m.core, knightslanding_numbers, costs::knights_landing());
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::knights_landing {

using namespace event_rows;

constexpr std::array knights_landing_own{
    row("CPU_CLK_UNHALTED.THREAD_P", 0x3C, 0x00, sum(Q::cycles)),
    row("MEM_UOPS_RETIRED.L1_MISS_LOADS", 0x04, 0x01, on(load_l1_miss)),
    row("MEM_UOPS_RETIRED.L2_HIT_LOADS", 0x04, 0x02, on(load_l2_hit)),
    row("MEM_UOPS_RETIRED.L2_MISS_LOADS", 0x04, 0x04, on(load_l2_miss)),
    row("MEM_UOPS_RETIRED.DTLB_MISS_LOADS", 0x04, 0x08, on(load_dtlb_miss)),
    row("MEM_UOPS_RETIRED.ALL_LOADS", 0x04, 0x40, on(load)),
    row("MEM_UOPS_RETIRED.ALL_STORES", 0x04, 0x80, on(store)),
    row("RECYCLEQ.LD_BLOCK_ST_FORWARD", 0x03, 0x01, on(store_forward_blocked)),
    row("RECYCLEQ.ST_SPLITS", 0x03, 0x04, on(split_store)),
    row("RECYCLEQ.LD_SPLITS", 0x03, 0x08, on(split_load)),
    row("RECYCLEQ.LOCK", 0x03, 0x10, on(locked)),
    row("PAGE_WALKS.CYCLES", 0x05, 0x03, sum(Q::page_walk_cycles)),
    row("UOPS_RETIRED.ALL", 0xC2, 0x10, sum(Q::uops)),
};

constexpr auto table = join(architectural_rows, reference_cycles, early_atom, goldmont_branches,
                            knights_landing_own, shared_rows<Microarchitecture::knights_landing>());
constexpr Product products[] = {{6, 0x57}, {6, 0x85}};
constexpr Preset product_presets[] = {presets::knightslanding};

constinit const CoreFacts facts{
    .core = Microarchitecture::knights_landing,
    .type = CoreType::atom,
    .products = products,
    .presets = product_presets,
    .events = table,
    .off_core = knights_landing_off_core_layout,
};

}  // namespace cores::knights_landing
}  // namespace pmusim
