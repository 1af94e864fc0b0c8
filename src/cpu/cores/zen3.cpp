// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {

constexpr AmdProduct milan{.name = "milan",
                           .title = "Zen 3 (Milan)",
                           .family = 0x19,
                           .model = 0x01,
                           .stepping = 1,
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

constexpr auto events = event_rows::join(zen::common_events, zen::flops_by_kind, zen::until_zen3,
                                         zen::since_zen2, zen::zen2_and_3, zen::since_zen3, zen::zen3_and_4);
constexpr Product products[] = {{0x19, 0x01}, {0x19, 0x21}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::milan, costs::zen3>,
                                      presets::amd_preset<presets::vermeer, costs::zen3>};

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
