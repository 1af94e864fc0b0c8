// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {

constexpr AmdProduct turin{.name = "turin",
                           .title = "Zen 5 (Turin)",
                           .family = 0x1A,
                           .model = 0x02,
                           .stepping = 1,
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

constexpr auto events = event_rows::join(zen::common_events, zen::flops_by_kind, zen::since_zen2,
                                         zen::since_zen3, zen::since_zen4, zen::only_zen5);
constexpr Product products[] = {{0x1A, 0x02}, {0x1A, 0x44}, {0x1A, 0x24}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::turin, costs::zen5>,
                                      presets::amd_preset<presets::granite_ridge, costs::zen5>,
                                      presets::amd_preset<presets::strix, costs::zen5>};

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
