// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "early_atom_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "shared/shared.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber silvermont_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 2, published),
    count("retire_width", &CoreParameters::retire_width, 2, recalled),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 32, compiler),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 38, recalled),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 10, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 16, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 8, recalled),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 0, recalled),
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
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 10, compiler),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 5, published),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 32, recalled),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 32, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 2, published),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 16, recalled),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, inferred),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, inferred),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 7, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 100, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 4096, inferred),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 16, recalled),
    count("predictor_tables", &CoreParameters::predictor_tables, 4, inferred),
    count("predictor_entries", &CoreParameters::predictor_entries, 512, inferred),
    count("predictor_history", &CoreParameters::predictor_history, 32, inferred),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 201, measured),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 0, cpuid),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 18, measured),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 48, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 48, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 128, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 4, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 0, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 1, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 3}, cpuid),
    cache("l1d", &CoreParameters::l1d, {24 * kib, 6, 64, 3}, measured),
    cache("l2", &CoreParameters::l2, {1 * mib, 16, 64, 14}, measured),
    cache("l3", &CoreParameters::l3, {0, 0, 64, 0}, cpuid),
    clock("tsc_hz", &CoreParameters::tsc_hz, 1999'000'000, measured),
};
}  // namespace

CpuModel silvermont() {
  CpuModel m = bonnell();
  m.name = "silvermont";
  m.title = "Silvermont";
  m.pfm_name = "slm";
  m.model = 0x37;
  m.stepping = 8;
  m.perf_capabilities = 0x12C2;
  m.leaf_0a_edx_strays = bit(14);
  m.has_rdtscp = m.has_ibpb = true;
  m.offcore_rsp = {0x768005FFFF, 0x368005FFFF};
  m.lbr.has_select = m.lbr.nehalem_filters = true;
  m.pebs.format = 2;
  m.pebs.eventing_ip = true;
  m.core.bus_hz = 100'000'000;
  use(m.core, silvermont_numbers, costs::silvermont());
  m.core.issue_order = IssueOrder::out_of_order;
  return m;
}

}  // namespace presets

namespace cores::silvermont {

using namespace event_rows;

constexpr std::array silvermont_own{
    row("CPU_CLK_UNHALTED.CORE_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.REF", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("BR_INST_RETIRED.ALL_TAKEN_BRANCHES", 0xC4, 0x80, on_any({near_taken, far_branch})),
    row("MACHINE_CLEARS.MEMORY_ORDERING", 0xC3, 0x02, on(memory_ordering_clear)),
    row("MACHINE_CLEARS.ALL", 0xC3, 0x08, on(machine_clear)),
    row("REHABQ.LD_BLOCK_ST_FORWARD", 0x03, 0x01, on(store_forward_blocked)),
    row("REHABQ.ST_SPLITS", 0x03, 0x04, on(split_store)),
    row("REHABQ.LD_SPLITS", 0x03, 0x08, on(split_load)),
    row("REHABQ.LOCK", 0x03, 0x10, on(locked)),
    row("PAGE_WALKS.CYCLES", 0x05, 0x03, sum(Q::page_walk_cycles)),
    row("UOPS_RETIRED.ANY", 0xC2, 0x10, sum(Q::uops)),
};

constexpr auto table = join(architectural_rows, early_atom, goldmont_branches, silvermont_own,
                            shared_rows<Microarchitecture::silvermont>());
constexpr Product products[] = {{6, 0x37}, {6, 0x4A}, {6, 0x4D}, {6, 0x5A}, {6, 0x5D}, {6, 0x4C}};
constexpr ProductName names[] = {{"airmont", "silvermont"}};
constexpr Preset product_presets[] = {presets::silvermont};

constinit const CoreFacts facts{
    .core = Microarchitecture::silvermont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .named_events = silvermont_slots,
    .off_core = silvermont_off_core_layout,
};

}  // namespace cores::silvermont
}  // namespace pmusim
