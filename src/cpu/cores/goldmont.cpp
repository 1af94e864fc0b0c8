// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "goldmont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "shared/shared.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber goldmont_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 3, published),
    count("retire_width", &CoreParameters::retire_width, 3, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 78, recalled),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 60, inferred),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 24, inferred),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 24, inferred),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 8, inferred),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, recalled),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 16, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 4, measured),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 4, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, published),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 10, measured),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 2, measured),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 0, recalled),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 12, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 5, inferred),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 32, inferred),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 0, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 3, published),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 16, recalled),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, inferred),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, inferred),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 6, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 100, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 4096, inferred),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 16, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 195, measured),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 0, cpuid),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 17, inferred),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 48, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 48, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 512, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 4, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 0, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 1, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 3}, cpuid),
    cache("l1d", &CoreParameters::l1d, {24 * kib, 6, 64, 3}, measured),
    cache("l2", &CoreParameters::l2, {1 * mib, 16, 64, 17}, measured),
    cache("l3", &CoreParameters::l3, {0, 0, 64, 0}, cpuid),
    clock("tsc_hz", &CoreParameters::tsc_hz, 1497'000'000, measured),
};
}  // namespace

/// Four counters of 48 bits, streamlined freeze, 32 LBR records with the cycle count in TO; PEBS on counter
/// 0.
CpuModel goldmont() {
  CpuModel m;
  m.name = "goldmont";
  m.title = "Goldmont";
  m.pfm_name = "glm";
  m.core_type = CoreType::atom;
  m.model = 0x5C;
  m.stepping = 9;
  m.perfmon_version = 4;
  m.gp_counters = 0xF;
  m.fixed_counters = 0x7;
  m.arch_events = 0x7F;
  m.perf_capabilities = 0x33C6;
  m.freeze = FreezeStyle::streamlined;
  m.anythread = true;
  m.has_tsc_adjust = true;
  m.has_xsaves = true;
  m.offcore_rsp = {0x760005FFBF, 0x360005FFBF};
  m.xcr0 = 0x1B;
  m.xss = 0x100;
  m.lbr = {.depth = 32,
           .format = LbrFormat::time,
           .has_select = true,
           .call_stack = true,
           .from_base = msr::LBR_NHM_FROM_IP};
  m.pebs = {.format = 3, .counters = 0x1, .distribution = 0x1, .eventing_ip = true};
  use(m.core, goldmont_numbers, costs::goldmont());
  m.core.move_elimination = MoveElimination::all;
  return m;
}

}  // namespace presets

namespace cores::goldmont {

using namespace event_rows;

constexpr std::array goldmont_only{
    row("PAGE_WALKS.CYCLES", 0x05, 0x03, sum(Q::page_walk_cycles)),
};

constexpr auto table = join(goldmont_common, goldmont_own, goldmont_off_core, goldmont_load_blocks,
                            goldmont_only, shared_rows<Microarchitecture::goldmont>());

constexpr std::array cache{
    CacheEvent{l1d, read, access, 0x81D0},          CacheEvent{l1d, write, access, 0x82D0},
    CacheEvent{l1i, read, access, 0x0380},          CacheEvent{l1i, read, miss, 0x0280},
    CacheEvent{ll, read, access, 0x01B7, 0x10001},  CacheEvent{ll, read, miss, 0x01B7, 0x3600000001},
    CacheEvent{ll, write, access, 0x01B7, 0x10002}, CacheEvent{ll, write, miss, 0x01B7, 0x3600000002},
    CacheEvent{dtlb, read, access, 0x81D0},         CacheEvent{dtlb, write, access, 0x82D0},
    CacheEvent{itlb, read, access, 0x00C0},         CacheEvent{itlb, read, miss, 0x0481},
    CacheEvent{bpu, read, access, 0x00C4},          CacheEvent{bpu, read, miss, 0x00C5},
};
constexpr Product products[] = {{6, 0x5C}, {6, 0x5F}};
constexpr Preset product_presets[] = {presets::goldmont};

constinit const CoreFacts facts{
    .core = Microarchitecture::goldmont,
    .type = CoreType::atom,
    .products = products,
    .presets = product_presets,
    .events = table,
    .cache_events = cache,
    .named_events = goldmont_slots,
    .off_core = goldmont_off_core_layout,
    .pebs_events = {.kind = PebsEvents::Kind::any},
};

}  // namespace cores::goldmont
}  // namespace pmusim
