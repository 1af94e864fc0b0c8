// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr auto zen3_numbers = zen_numbers(std::to_array<CoreNumber>({
    count("issue_width", &CoreParameters::issue_width, 6, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 256, published),
    count("scheduler_uops", &CoreParameters::scheduler_uops, 224, published),
    count("load_buffer_entries", &CoreParameters::load_buffer_entries, 116, recalled),
    count("store_buffer_entries", &CoreParameters::store_buffer_entries, 64, published),
    count("outstanding_misses", &CoreParameters::outstanding_misses, 24, recalled),
    count("mispredict_penalty", &CoreParameters::mispredict_penalty, 13, recalled),
    count("uop_queue_entries", &CoreParameters::uop_queue_entries, 72, inferred),
    count("uop_cache_lines", &CoreParameters::uop_cache_lines, 512, published),
    count("uop_cache_ways", &CoreParameters::uop_cache_ways, 8, recalled),
    count("uop_cache_line_uops", &CoreParameters::uop_cache_line_uops, 8, published),
    count("uop_cache_window_bytes", &CoreParameters::uop_cache_window_bytes, 64, recalled),
    count("uop_cache_window_lines", &CoreParameters::uop_cache_window_lines, 8, inferred),
    count("uop_cache_uops_per_cycle", &CoreParameters::uop_cache_uops_per_cycle, 8, published),
    count("forwarding_cycles", &CoreParameters::forwarding_cycles, 8, recalled),
    count("btb_entries", &CoreParameters::btb_entries, 6656, published),
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
    cache("l3", &CoreParameters::l3, {32 * mib, 16, 64, 46}, recalled),
}));
constexpr AmdCore zen3_core{zen3_numbers, &costs::zen3, MacroFusion::sandy_bridge};

constexpr AmdProduct milan{.name = "milan",
                           .title = "Zen 3 (Milan)",
                           .family = 0x19,
                           .model = 0x01,
                           .stepping = 1,
                           .tsc_hz = 2450'000'000,
                           .memory_cycles = 240,
                           .words = {.cpuid_80000001_ecx = 0x75C237FF,
                                     .cpuid_80000008_eax = 0x3030,
                                     .cpuid_80000008_ebx = 0x91BEF75F,
                                     .cpuid_8000001b_eax = 0x3FF,
                                     .cpuid_80000021_eax = 0x204D,
                                     .cpuid_80000022_eax = 0,
                                     .cpuid_80000022_ebx = 0},
                           .xcr0 = avx_and_pkru,
                           .xss = cet};
constexpr AmdProduct vermeer{.name = "vermeer",
                             .title = "Zen 3 (Vermeer)",
                             .family = 0x19,
                             .model = 0x21,
                             .stepping = 0,
                             .tsc_hz = 3700'000'000,
                             .memory_cycles = 240,
                             .words = {.cpuid_80000001_ecx = 0x75C237FF,
                                       .cpuid_80000008_eax = 0x3030,
                                       .cpuid_80000008_ebx = 0x111EF657,
                                       .cpuid_8000001b_eax = 0x3FF,
                                       .cpuid_80000021_eax = 0x4D,
                                       .cpuid_80000022_eax = 0,
                                       .cpuid_80000022_ebx = 0},
                             .xcr0 = avx_and_pkru,
                             .xss = cet};
}  // namespace
}  // namespace presets

namespace cores::zen3 {

constexpr auto events = event_rows::join(zen::common_events, zen::until_zen3, zen::since_zen2,
                                         zen::zen2_and_3, zen::since_zen3, zen::zen3_and_4);
constexpr Product products[] = {{0x19, 0x01}, {0x19, 0x21}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::milan, presets::zen3_core>,
                                      presets::amd_preset<presets::vermeer, presets::zen3_core>};

constinit const CoreFacts facts{
    .core = Microarchitecture::zen3,
    .products = products,
    .presets = product_presets,
    .events = events,
    .generic_rows = zen::generic_of_zen2,
    .cache_events = zen::cache_events,
    .node_is_read_only = true,
};

}  // namespace cores::zen3
}  // namespace pmusim
