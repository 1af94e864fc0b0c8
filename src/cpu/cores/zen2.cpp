// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {

constexpr AmdProduct rome{.name = "rome",
                          .title = "Zen 2 (Rome)",
                          .family = 0x17,
                          .model = 0x31,
                          .stepping = 0,
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

constexpr auto events = event_rows::join(zen::common_events, zen::flops_by_kind, zen::until_zen2,
                                         zen::until_zen3, zen::since_zen2, zen::zen2_and_3, zen::only_zen2);
constexpr Product products[] = {{0x17, 0x31}, {0x17, 0x60}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::rome, costs::zen2>,
                                      presets::amd_preset<presets::renoir, costs::zen2>};

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
