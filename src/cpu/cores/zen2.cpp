// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr auto zen2_numbers = zen_numbers(std::to_array<CoreNumber>({
    count("issue_width", &CoreParameters::issue_width, 6, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 224, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 192, published),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 116, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 48, published),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 22, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 16, recalled),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 72, recalled),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 512, published),
    count("uop_cache_ways", &CoreParameters::uop_cache_ways, 8, recalled),
    count("uop_cache_line_uops", &CoreParameters::uop_cache_line_uops, 8, published),
    count("uop_cache_window_bytes", &CoreParameters::uop_cache_window_bytes, 64, recalled),
    count("uop_cache_window_lines", &CoreParameters::uop_cache_window_lines, 8, inferred),
    count("uop_cache_uops_per_cycle", &CoreParameters::uop_cache_uops_per_cycle, 8, recalled),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 7, inferred),
    count("btb_entries", &CoreParameters::btb_entries, 7168, published),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 32, recalled),
    count("itlb_entries", &CoreParameters::itlb_entries, 64, recalled),
    count("itlb_ways", &CoreParameters::itlb_ways, 64, recalled),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 64, recalled),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 64, recalled),
    count("stlb_entries", &CoreParameters::stlb_entries, 2048, recalled),
    count("stlb_ways", &CoreParameters::stlb_ways, 16, recalled),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, measured),
    cache("l2", &CoreParameters::l2, {512 * kib, 8, 64, 12}, recalled),
    cache("l3", &CoreParameters::l3, {16 * mib, 16, 64, 39}, recalled),
}));
constexpr AmdCore zen2_core{zen2_numbers, &costs::zen2, MacroFusion::nehalem};

constexpr AmdProduct rome{.name = "rome",
                          .title = "Zen 2 (Rome)",
                          .family = 0x17,
                          .model = 0x31,
                          .stepping = 0,
                          .tsc_hz = 2250'000'000,
                          .memory_cycles = 234,
                          .words = {.cpuid_80000001_ecx = 0x75C237FF,
                                    .cpuid_80000008_eax = 0x3030,
                                    .cpuid_80000008_ebx = 0x018CF757,
                                    .cpuid_8000001b_eax = 0x3FF,
                                    .cpuid_80000021_eax = 0,
                                    .cpuid_80000022_eax = 0,
                                    .cpuid_80000022_ebx = 0},
                          .xcr0 = 7,
                          .xss = 0};
constexpr AmdProduct renoir{.name = "renoir",
                            .title = "Zen 2 (Renoir)",
                            .family = 0x17,
                            .model = 0x60,
                            .stepping = 1,
                            .tsc_hz = 1800'000'000,
                            .memory_cycles = 151,
                            .l3_mib = 4,
                            .words = {.cpuid_80000001_ecx = 0x75C237FF,
                                      .cpuid_80000008_eax = 0x3030,
                                      .cpuid_80000008_ebx = 0x090CF757,
                                      .cpuid_8000001b_eax = 0x3FF,
                                      .cpuid_80000021_eax = 0,
                                      .cpuid_80000022_eax = 0,
                                      .cpuid_80000022_ebx = 0},
                            .xcr0 = 7,
                            .xss = 0};
}  // namespace
}  // namespace presets

namespace cores::zen2 {

constexpr auto events = event_rows::join(zen::common_events, zen::until_zen2, zen::until_zen3,
                                         zen::since_zen2, zen::zen2_and_3, zen::only_zen2);
constexpr Product products[] = {{0x17, 0x31}, {0x17, 0x60}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::rome, presets::zen2_core>,
                                      presets::amd_preset<presets::renoir, presets::zen2_core>};

constinit const CoreFacts facts{
    .core = Microarchitecture::zen2,
    .products = products,
    .presets = product_presets,
    .events = events,
    .generic_rows = zen::generic_of_zen2,
    .cache_events = zen::cache_events,
    .node_is_read_only = true,
};

}  // namespace cores::zen2
}  // namespace pmusim
