// SPDX-License-Identifier: MIT
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "named_events.h"
#include "nehalem_family.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "shared/shared.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber westmere_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 4, recalled),
    count("retire_width", &CoreParameters::retire_width, 4, recalled),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 128, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 36, recalled),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 48, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 32, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 10, recalled),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, inferred),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 32, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 2, inferred),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 2, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, inferred),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 16, inferred),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, recalled),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 0, inferred),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 256, inferred),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 17, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 8, recalled),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 28, recalled),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 28, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 4, recalled),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 16, recalled),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, inferred),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 6, recalled),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 4, measured),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 100, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 4096, inferred),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 16, recalled),
    count("predictor_tables", &CoreParameters::predictor_tables, 3, inferred),
    count("predictor_entries", &CoreParameters::predictor_entries, 512, inferred),
    count("predictor_history", &CoreParameters::predictor_history, 18, recalled),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 185, inferred),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 5, measured),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 9, measured),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 128, cpuid),
    count("itlb_ways", &CoreParameters::itlb_ways, 4, cpuid),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 64, cpuid),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 4, cpuid),
    count("stlb_entries", &CoreParameters::stlb_entries, 512, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 4, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 4, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, measured),
    cache("l2", &CoreParameters::l2, {256 * kib, 8, 64, 10}, inferred),
    cache("l3", &CoreParameters::l3, {12 * mib, 16, 64, 48}, recalled),
    clock("tsc_hz", &CoreParameters::tsc_hz, 2800'000'000, measured),
};
}  // namespace

namespace {
CpuModel westmere() {
  CpuModel m = nehalem();
  m.name = "westmere";
  m.title = "Westmere";
  m.pfm_name = "wsm";
  m.model = 0x2C;
  m.stepping = 2;
  m.arch_events = 0x7B;  // reference cycles: not enumerated
  m.offcore_rsp = {0xFFFF, 0xFFFF};
  m.pebs.data_source = DataSourceEncoding::westmere;
  use(m.core, westmere_numbers, costs::westmere());
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::westmere {

using namespace event_rows;

constexpr std::array westmere_only{
    row("INST_RETIRED.ANY_P", 0xC0, 0x01, on(instruction)),
    row("BR_MISP_RETIRED.ALL_BRANCHES", 0xC5, 0x00, on(mispredicted)),
    row("BR_MISP_RETIRED.CONDITIONAL", 0xC5, 0x01, on(mispredicted_conditional)),
    row("MEM_UNCORE_RETIRED.LOCAL_DRAM", 0x0F, 0x10, on(load_dram)),
};

constexpr auto table =
    join(fixed_three, architectural_cache, nehalem_and_westmere, westmere_only, nehalem_off_core,
         architectural_names, architectural_mispredicts, shared_rows<Microarchitecture::westmere>());

constexpr std::array cache{
    CacheEvent{l1d, read, access, 0x010B},         CacheEvent{l1d, read, miss, 0x0151},
    CacheEvent{l1d, write, access, 0x020B},        CacheEvent{l1d, write, miss, 0x0251},
    CacheEvent{l1i, read, access, 0x0380},         CacheEvent{l1i, read, miss, 0x0280},
    CacheEvent{ll, read, access, 0x01B7, 0xF701},  CacheEvent{ll, read, miss, 0x01B7, 0xF001},
    CacheEvent{ll, write, access, 0x01B7, 0xF70A}, CacheEvent{ll, write, miss, 0x01B7, 0xF00A},
    CacheEvent{dtlb, read, access, 0x010B},        CacheEvent{dtlb, read, miss, 0x0108},
    CacheEvent{dtlb, write, access, 0x020B},       CacheEvent{dtlb, write, miss, 0x010C},
    CacheEvent{itlb, read, access, 0x01C0},        CacheEvent{itlb, read, miss, 0x0185},
    CacheEvent{bpu, read, access, 0x00C4},         CacheEvent{bpu, read, miss, 0x03E8},
};
constexpr Product products[] = {{6, 0x25}, {6, 0x2C}, {6, 0x2F}};
constexpr Preset product_presets[] = {presets::westmere};

constinit const CoreFacts facts{
    .core = Microarchitecture::westmere,
    .products = products,
    .presets = product_presets,
    .events = table,
    .generic = {.frontend_stalls = 0x010E | GenericEncodings::no_uops,
                .backend_stalls = 0x3FB1 | GenericEncodings::no_uops},
    .cache_events = cache,
    .named_events = nehalem_memory,
    .off_core = westmere_off_core_layout,
    .pebs_events = {.kind = PebsEvents::Kind::listed, .listed = nehalem_pebs_events},
};

}  // namespace cores::westmere
}  // namespace pmusim
