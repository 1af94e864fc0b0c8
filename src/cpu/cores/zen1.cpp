// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {

constexpr AmdProduct naples{.name = "naples",
                            .title = "Zen (Naples)",
                            .family = 0x17,
                            .model = 0x01,
                            .stepping = 2,
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
constexpr Preset product_presets[] = {presets::amd_preset<presets::naples, costs::zen1>};

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
