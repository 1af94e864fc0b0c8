// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr auto zen3_numbers = std::to_array<CoreNumber>({
    count("issue_width", &CoreParameters::issue_width, 6, published),
    count("retire_width", &CoreParameters::retire_width, 8, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 256, published),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, cpuid),
    cache("l2", &CoreParameters::l2, {512 * kib, 8, 64, 12}, cpuid),
    cache("l3", &CoreParameters::l3, {32 * mib, 16, 64, 46}, cpuid),
});

constexpr AmdProduct milan{.name = "milan",
                           .title = "Zen 3 (Milan)",
                           .family = 0x19,
                           .model = 0x01,
                           .stepping = 1,
                           .tsc_hz = 2450'000'000,
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

constexpr auto events = event_rows::join(zen::common_events, zen::ops_of_zen3);
constexpr Product products[] = {{0x19, 0x01}, {0x19, 0x21}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::milan, presets::zen3_numbers>,
                                      presets::amd_preset<presets::vermeer, presets::zen3_numbers>};

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
