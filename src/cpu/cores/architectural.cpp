// SPDX-License-Identifier: MIT
#include "architectural_rows.h"
#include "core_numbers.h"
#include "cores.h"
#include "cpu/costs/costs.h"
#include "presets.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr CoreNumber yonah_numbers[] = {
    count("issue_width", &CoreParameters::issue_width, 3, recalled),
    count("retire_width", &CoreParameters::retire_width, 3, recalled),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 80, recalled),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 24, recalled),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 16, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 16, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 8, recalled),
    count("l1_stride_loads", &CoreParameters::l1_stride_loads, 0, recalled),
    count("l2_stream_pages", &CoreParameters::l2_stream_pages, 16, published),
    count("l2_stream_gap_lines", &CoreParameters::l2_stream_gap_lines, 1, inferred),
    count("l2_stream_burst_lines", &CoreParameters::l2_stream_burst_lines, 2, inferred),
    count("l2_stream_ahead_lines", &CoreParameters::l2_stream_ahead_lines, 20, inferred),
    count("l2_prefetches_outstanding", &CoreParameters::l2_prefetches_outstanding, 8, inferred),
    count("next_page_prefetch", &CoreParameters::next_page_prefetch, 0, inferred),
    count("adjacent_line_level", &CoreParameters::adjacent_line_level, 0, inferred),
    count("blocked_forward_cycles", &CoreParameters::blocked_forward_cycles, 13, inferred),
    count("disambiguation_loads", &CoreParameters::disambiguation_loads, 0, recalled),
    count("address_alias_cycles", &CoreParameters::address_alias_cycles, 5, recalled),
    count("machine_clear_cycles", &CoreParameters::machine_clear_cycles, 20, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 13, recalled),
    count("resteer_cycles", &CoreParameters::resteer_cycles, 6, recalled),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 12, inferred),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 0, recalled),
    count("loop_buffer_uops", &CoreParameters::loop_buffer_uops, 0, recalled),
    count("loop_buffer_unrolls", &CoreParameters::loop_buffer_unrolls, 0, recalled),
    count("decoders", &CoreParameters::decoders, 3, recalled),
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
    count("memory_latency_cycles", &CoreParameters::memory_latency_cycles, 170, recalled),
    count("stlb_latency_cycles", &CoreParameters::stlb_latency_cycles, 0, inferred),
    count("page_walk_cycles", &CoreParameters::page_walk_cycles, 10, inferred),
    count("page_walk_loads", &CoreParameters::page_walk_loads, 1, inferred),
    count("itlb_entries", &CoreParameters::itlb_entries, 128, recalled),
    count("itlb_ways", &CoreParameters::itlb_ways, 4, recalled),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 128, recalled),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 4, recalled),
    count("stlb_entries", &CoreParameters::stlb_entries, 0, cpuid),
    count("stlb_ways", &CoreParameters::stlb_ways, 1, cpuid),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 3}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 3}, measured),
    cache("l2", &CoreParameters::l2, {2 * mib, 8, 64, 14}, recalled),
    cache("l3", &CoreParameters::l3, {0, 0, 64, 0}, cpuid),
    clock("tsc_hz", &CoreParameters::tsc_hz, 1660'000'000, recalled),
};
}  // namespace

/// The first architectural PMU: two counters, no global registers, no fixed counters, no LBR that drivers
/// use.
CpuModel yonah() {
  CpuModel m;
  m.name = "yonah";
  m.title = "Yonah (Core Solo, Core Duo)";
  m.pfm_name = "ix86arch";
  m.model = 0x0E;
  m.stepping = 8;
  m.perfmon_version = 1;
  m.gp_counters = 0x3;
  m.counter_width = 40;
  m.arch_events = 0x7F;
  m.has_pdcm = m.has_rdtscp = m.has_ibpb = false;
  m.xcr0 = 0;
  m.core.bus_hz = 166'666'667;
  use(m.core, yonah_numbers, costs::yonah());
  return m;
}

}  // namespace presets

namespace cores::architectural {

using namespace event_rows;

constexpr auto table = join(architectural_rows, reference_cycles);
constexpr Preset product_presets[] = {presets::yonah};

constinit const CoreFacts facts{
    .core = Microarchitecture::unknown,
    .presets = product_presets,
    .events = table,
    .pebs_events = {.kind = PebsEvents::Kind::none},
    .fixed_codes = bits(16, 3),
};

}  // namespace cores::architectural
}  // namespace pmusim
