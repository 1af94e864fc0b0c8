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

constexpr CoreNumber arcticwolf_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 8, inferred),
    count("retire_width", &CoreParameters::retire_width, 16, inferred),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 416, inferred),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 240, inferred),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 114, inferred),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 56, inferred),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 16, inferred),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 256, inferred),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 16, inferred),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 2, inferred),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 4, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, inferred),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 16, inferred),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 2, inferred),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 0, inferred),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 15, inferred),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 5, inferred),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 96, inferred),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 0, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 9, inferred),
    count("fetch_bytes", &CoreParameters::fetch_bytes, 48, inferred),
    count("microcode_switch_cycles", &CoreParameters::microcode_switch_cycles, 3, inferred),
    count("length_change_cycles", &CoreParameters::length_change_cycles, 3, inferred),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 7, inferred),
    count("system_call_cycles", &CoreParameters::system_call_cycles, 100, inferred),
    count("btb_entries", &CoreParameters::btb_entries, 8192, inferred),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 128, inferred),
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 282, inferred),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 6, inferred),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 17, inferred),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 128, inferred),
    count("itlb_ways", &CoreParameters::itlb_ways, 128, inferred),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 48, inferred),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 48, inferred),
    count("stlb_entries", &CoreParameters::stlb_entries, 4096, inferred),
    count("stlb_ways", &CoreParameters::stlb_ways, 4, inferred),
    cache("l1i", &CoreParameters::l1i, {64 * kib, 8, 64, 3}, inferred),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, inferred),
    cache("l2", &CoreParameters::l2, {4 * mib, 16, 64, 19}, inferred),
    cache("l3", &CoreParameters::l3, {36 * mib, 12, 64, 60}, inferred),
    clock("tsc_hz", &CoreParameters::tsc_hz, 3302'000'000, inferred),
};
}  // namespace

namespace {
/// The E core of Nova Lake; what no dump has shown yet follows Darkmont.
CpuModel arcticwolf() {
  CpuModel m = darkmont();
  m.name = "arcticwolf";
  m.title = "Arctic Wolf (Nova Lake E core)";
  m.family = 18;
  m.model = 0x01;
  m.native_model_id = 5;
  m.perfmon_ext_ebx = 7;
  m.offcore_rsp = {};
  m.omr = 0xC0FFFFFFFFFFFFFF;
  m.pebs.data_source = DataSourceEncoding::arctic_wolf;
  use(m.core, arcticwolf_numbers, costs::skymont());
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::arctic_wolf {

using namespace event_rows;

/// Arctic Wolf asks off-core responses through the OMR registers, whose codes are their own.
constexpr auto table = join(since_darkmont, off_core(0xB7, omr_values));
/// They ask for what bit 3 stands for, too, of which the core sends nothing.
constexpr auto cache =
    join(tremont_near_cache,
         last_level(0x01B7, demand_last_level(any_omr_response | bit(3), 0x00FF'03F0'0000'0008)));
constexpr Product products[] = {{18, 0x01}, {18, 0x03}};
constexpr ProductName names[] = {{"novalake", "arcticwolf"}};
constexpr Preset product_presets[] = {presets::arcticwolf};

constinit const CoreFacts facts{
    .core = Microarchitecture::arctic_wolf,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = cache,
    .named_events = skymont_names,
    .off_core = omr_layout(0xB7, bits(31, 4)),
};

}  // namespace cores::arctic_wolf
}  // namespace pmusim
