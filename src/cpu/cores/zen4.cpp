// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {

constexpr AmdProduct genoa{.name = "genoa",
                           .title = "Zen 4 (Genoa)",
                           .family = 0x19,
                           .model = 0x11,
                           .stepping = 1,
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

constexpr auto events = event_rows::join(zen::common_events, zen::flops_by_kind, zen::since_zen2,
                                         zen::since_zen3, zen::zen3_and_4, zen::since_zen4, zen::only_zen4);
constexpr Product products[] = {{0x19, 0x11}, {0x19, 0x61}, {0x19, 0xA0}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::genoa, costs::zen4>,
                                      presets::amd_preset<presets::raphael, costs::zen4>,
                                      presets::amd_preset<presets::raphael_early, costs::zen4>,
                                      presets::amd_preset<presets::bergamo, costs::zen4>};

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
