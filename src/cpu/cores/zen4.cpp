// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr auto zen4_numbers = zen_numbers(std::to_array<CoreNumber>({
    count("issue_width", &CoreParameters::issue_width, 6, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 320, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 224, published),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 136, measured),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 64, published),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 24, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 13, recalled),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 144, recalled),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 768, published),
    count("uop_cache_ways", &CoreParameters::uop_cache_ways, 12, recalled),
    count("uop_cache_line_uops", &CoreParameters::uop_cache_line_uops, 9, published),
    count("uop_cache_window_bytes", &CoreParameters::uop_cache_window_bytes, 64, recalled),
    count("uop_cache_window_lines", &CoreParameters::uop_cache_window_lines, 8, inferred),
    count("uop_cache_uops_per_cycle", &CoreParameters::uop_cache_uops_per_cycle, 9, published),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 7, measured),
    count("btb_entries", &CoreParameters::btb_entries, 7168, published),
    count("return_stack_entries", &CoreParameters::return_stack_entries, 32, recalled),
    count("itlb_entries", &CoreParameters::itlb_entries, 64, recalled),
    count("itlb_ways", &CoreParameters::itlb_ways, 64, recalled),
    count("dtlb_entries", &CoreParameters::dtlb_entries, 72, recalled),
    count("dtlb_ways", &CoreParameters::dtlb_ways, 72, recalled),
    count("stlb_entries", &CoreParameters::stlb_entries, 3072, recalled),
    count("stlb_ways", &CoreParameters::stlb_ways, 24, recalled),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, measured),
    cache("l2", &CoreParameters::l2, {1 * mib, 8, 64, 14}, recalled),
    cache("l3", &CoreParameters::l3, {32 * mib, 16, 64, 50}, recalled),
}));
constexpr AmdCore zen4_core{zen4_numbers, &costs::zen4, MacroFusion::sandy_bridge};

constexpr AmdProduct genoa{.name = "genoa",
                           .title = "Zen 4 (Genoa)",
                           .family = 0x19,
                           .model = 0x11,
                           .stepping = 1,
                           .tsc_hz = 2400'000'000,
                           .memory_cycles = 283,
                           .words = {.cpuid_80000001_ecx = 0x75C237FF,
                                     .cpuid_80000008_eax = 0x3934,
                                     .cpuid_80000008_ebx = 0x79BEF25F,
                                     .cpuid_8000001b_eax = 0xBFF,
                                     .cpuid_80000021_eax = 0x62FCF,
                                     .cpuid_80000022_eax = 7,
                                     .cpuid_80000022_ebx = 0x304106},
                           .xcr0 = avx512_and_pkru,
                           .xss = cet};
constexpr AmdProduct raphael{.name = "raphael",
                             .title = "Zen 4 (Raphael)",
                             .family = 0x19,
                             .model = 0x61,
                             .stepping = 2,
                             .tsc_hz = 4500'000'000,
                             .memory_cycles = 324,
                             .words = {.cpuid_80000001_ecx = 0x75C237FF,
                                       .cpuid_80000008_eax = 0x3030,
                                       .cpuid_80000008_ebx = 0x791EF257,
                                       .cpuid_8000001b_eax = 0xBFF,
                                       .cpuid_80000021_eax = 0x62FCF,
                                       .cpuid_80000022_eax = 7,
                                       .cpuid_80000022_ebx = 0x84106},
                             .xcr0 = avx512_and_pkru,
                             .xss = cet};
/// Firmware of the first parts has the LBR stack without freezing on PMI.
constexpr AmdProduct raphael_early{.name = "raphael-early",
                                   .title = "Zen 4 (Raphael, early firmware)",
                                   .family = 0x19,
                                   .model = 0x61,
                                   .stepping = 2,
                                   .tsc_hz = 4500'000'000,
                                   .memory_cycles = 324,
                                   .words = {.cpuid_80000001_ecx = 0x75C237FF,
                                             .cpuid_80000008_eax = 0x3030,
                                             .cpuid_80000008_ebx = 0x191EF257,
                                             .cpuid_8000001b_eax = 0xBFF,
                                             .cpuid_80000021_eax = 0x62FCF,
                                             .cpuid_80000022_eax = 3,
                                             .cpuid_80000022_ebx = 0x84106},
                                   .xcr0 = avx512_and_pkru,
                                   .xss = cet};
constexpr AmdProduct bergamo{.name = "bergamo",
                             .title = "Zen 4c (Bergamo)",
                             .family = 0x19,
                             .model = 0xA0,
                             .stepping = 2,
                             .tsc_hz = 2250'000'000,
                             .memory_cycles = 270,
                             .l3_mib = 16,
                             .words = {.cpuid_80000001_ecx = 0x75C237FF,
                                       .cpuid_80000008_eax = 0x3934,
                                       .cpuid_80000008_ebx = 0x79BEF25F,
                                       .cpuid_8000001b_eax = 0xBFF,
                                       .cpuid_80000021_eax = 0x62FCF,
                                       .cpuid_80000022_eax = 3,
                                       .cpuid_80000022_ebx = 0x204106},
                             .xcr0 = avx512_and_pkru,
                             .xss = cet};
}  // namespace
}  // namespace presets

namespace cores::zen4 {

constexpr auto events = event_rows::join(zen::common_events, zen::since_zen2, zen::since_zen3,
                                         zen::zen3_and_4, zen::since_zen4, zen::only_zen4);
constexpr Product products[] = {{0x19, 0x11}, {0x19, 0x61}, {0x19, 0xA0}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::genoa, presets::zen4_core>,
                                      presets::amd_preset<presets::raphael, presets::zen4_core>,
                                      presets::amd_preset<presets::raphael_early, presets::zen4_core>,
                                      presets::amd_preset<presets::bergamo, presets::zen4_core>};

constinit const CoreFacts facts{
    .core = Microarchitecture::zen4,
    .products = products,
    .presets = product_presets,
    .events = events,
    .generic_rows = zen::generic_of_zen4,
    .cache_events = zen::cache_events,
    .node_is_read_only = true,
};

}  // namespace cores::zen4
}  // namespace pmusim
