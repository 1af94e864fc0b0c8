// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr auto zen5_numbers = zen_numbers(std::to_array<CoreNumber>({
    count("issue_width", &CoreParameters::issue_width, 8, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 448, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 354, recalled),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 202, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 104, recalled),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 24, inferred),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 15, recalled),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 144, inferred),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 1024, published),
    count("uop_cache_ways", &CoreParameters::uop_cache_ways, 16, recalled),
    count("uop_cache_line_uops", &CoreParameters::uop_cache_line_uops, 6, published),
    count("uop_cache_window_bytes", &CoreParameters::uop_cache_window_bytes, 64, recalled),
    count("uop_cache_window_lines", &CoreParameters::uop_cache_window_lines, 8, inferred),
    count("uop_cache_uops_per_cycle", &CoreParameters::uop_cache_uops_per_cycle, 12, published),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 7, inferred),
    count("btb_entries", &CoreParameters::btb_entries, 24576, recalled),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 52, recalled),
    count("itlb_entries", &CoreParameters::itlb_entries, 64, published),
    count("itlb_ways", &CoreParameters::itlb_ways, 64, recalled),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 96, published),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 96, recalled),
    count("stlb_entries", &CoreParameters::stlb_entries, 4096, published),
    count("stlb_ways", &CoreParameters::stlb_ways, 16, recalled),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {48 * kib, 12, 64, 4}, measured),
    cache("l2", &CoreParameters::l2, {1 * mib, 16, 64, 14}, recalled),
    cache("l3", &CoreParameters::l3, {32 * mib, 16, 64, 50}, recalled),
}));
constexpr AmdCore zen5_core{zen5_numbers, &costs::zen5, MacroFusion::sandy_bridge};

constexpr AmdProduct turin{.name = "turin",
                           .title = "Zen 5 (Turin)",
                           .family = 0x1A,
                           .model = 0x02,
                           .stepping = 1,
                           .tsc_hz = 2700'000'000,
                           .memory_cycles = 324,
                           .words = {.cpuid_80000001_ecx = 0x75C237FF,
                                     .cpuid_80000008_eax = 0x3934,
                                     .cpuid_80000008_ebx = 0x79BEF25F,
                                     .cpuid_8000001b_eax = 0x81BFF,
                                     .cpuid_80000021_eax = 0xD93FFFCF,
                                     .cpuid_80000022_eax = 7,
                                     .cpuid_80000022_ebx = 0x304106},
                           .xcr0 = avx512_and_pkru,
                           .xss = cet};
constexpr AmdProduct granite_ridge{.name = "granite-ridge",
                                   .title = "Zen 5 (Granite Ridge)",
                                   .family = 0x1A,
                                   .model = 0x44,
                                   .stepping = 0,
                                   .tsc_hz = 4300'000'000,
                                   .memory_cycles = 322,
                                   .words = {.cpuid_80000001_ecx = 0x75C237FF,
                                             .cpuid_80000008_eax = 0x3930,
                                             .cpuid_80000008_ebx = 0x791EF257,
                                             .cpuid_8000001b_eax = 0x81BFF,
                                             .cpuid_80000021_eax = 0x593FFFCF,
                                             .cpuid_80000022_eax = 7,
                                             .cpuid_80000022_ebx = 0x84106},
                                   .xcr0 = avx512_and_pkru,
                                   .xss = cet};
constexpr AmdProduct strix{.name = "strix",
                           .title = "Zen 5 (Strix)",
                           .family = 0x1A,
                           .model = 0x24,
                           .stepping = 0,
                           .tsc_hz = 2000'000'000,
                           .memory_cycles = 256,
                           .l3_mib = 16,
                           .words = {.cpuid_80000001_ecx = 0x75C237FF,
                                     .cpuid_80000008_eax = 0x3930,
                                     .cpuid_80000008_ebx = 0x791EF257,
                                     .cpuid_8000001b_eax = 0x81BFF,
                                     .cpuid_80000021_eax = 0x593FFFCF,
                                     .cpuid_80000022_eax = 7,
                                     .cpuid_80000022_ebx = 0x102106},
                           .xcr0 = avx512_and_pkru,
                           .xss = cet};
}  // namespace
}  // namespace presets

namespace cores::zen5 {

constexpr auto events =
    event_rows::join(zen::common_events, zen::since_zen2, zen::since_zen3, zen::since_zen4, zen::only_zen5);
constexpr Product products[] = {{0x1A, 0x02}, {0x1A, 0x44}, {0x1A, 0x24}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::turin, presets::zen5_core>,
                                      presets::amd_preset<presets::granite_ridge, presets::zen5_core>,
                                      presets::amd_preset<presets::strix, presets::zen5_core>};

constinit const CoreFacts facts{
    .core = Microarchitecture::zen5,
    .products = products,
    .presets = product_presets,
    .events = events,
    .generic_rows = zen::generic_of_zen4,
    .cache_events = zen::cache_events,
    .node_is_read_only = true,
};

}  // namespace cores::zen5
}  // namespace pmusim
