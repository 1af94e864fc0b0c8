// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr auto zen1_numbers = zen_numbers(std::to_array<CoreNumber>({
    count("issue_width", &CoreParameters::issue_width, 6, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 192, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 180, published),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 72, published),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 44, published),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 22, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 17, compiler),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 72, recalled),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 256, published),
    count("uop_cache_ways", &CoreParameters::uop_cache_ways, 8, recalled),
    count("uop_cache_line_uops", &CoreParameters::uop_cache_line_uops, 8, published),
    count("uop_cache_window_bytes", &CoreParameters::uop_cache_window_bytes, 64, recalled),
    count("uop_cache_window_lines", &CoreParameters::uop_cache_window_lines, 8, inferred),
    count("uop_cache_uops_per_cycle", &CoreParameters::uop_cache_uops_per_cycle, 8, recalled),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 7, measured),
    count("btb_entries", &CoreParameters::btb_entries, 4096, recalled),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 32, published),
    count("itlb_entries", &CoreParameters::itlb_entries, 64, published),
    count("itlb_ways", &CoreParameters::itlb_ways, 64, recalled),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 64, published),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 64, recalled),
    count("stlb_entries", &CoreParameters::stlb_entries, 1536, published),
    count("stlb_ways", &CoreParameters::stlb_ways, 12, recalled),
    cache("l1i", &CoreParameters::l1i, {64 * kib, 4, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, measured),
    cache("l2", &CoreParameters::l2, {512 * kib, 8, 64, 17}, recalled),
    cache("l3", &CoreParameters::l3, {8 * mib, 16, 64, 40}, recalled),
}));
constexpr AmdCore zen1_core{zen1_numbers, &costs::zen1, MacroFusion::nehalem};

constexpr AmdProduct naples{.name = "naples",
                            .title = "Zen (Naples)",
                            .family = 0x17,
                            .model = 0x01,
                            .stepping = 2,
                            .tsc_hz = 2200'000'000,
                            .memory_cycles = 215,
                            .words = {.cpuid_80000001_ecx = 0x35C233FF,
                                      .cpuid_80000008_eax = 0x3030,
                                      .cpuid_80000008_ebx = 0x00000007,
                                      .cpuid_8000001b_eax = 0,
                                      .cpuid_80000021_eax = 0,
                                      .cpuid_80000022_eax = 0,
                                      .cpuid_80000022_ebx = 0},
                            .xcr0 = 7,
                            .xss = 0,
                            .has_x2apic = false};
}  // namespace
}  // namespace presets

namespace cores::zen1 {

constexpr auto events =
    event_rows::join(zen::common_events, zen::until_zen2, zen::until_zen3, zen::only_zen1);
constexpr Product products[] = {{0x17, 0x01}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::naples, presets::zen1_core>};

constinit const CoreFacts facts{
    .core = Microarchitecture::zen1,
    .products = products,
    .presets = product_presets,
    .events = events,
    .generic_rows = zen::generic_of_zen1,
    .cache_events = zen::cache_events,
    .node_is_read_only = true,
};

}  // namespace cores::zen1
}  // namespace pmusim
