// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr auto zen2_numbers = std::to_array<CoreNumber>({
    count("issue_width", &CoreParameters::issue_width, 6, published),
    count("retire_width", &CoreParameters::retire_width, 8, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 224, published),
    cache("l1i", &CoreParameters::l1i, {32 * kib, 8, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, cpuid),
    cache("l2", &CoreParameters::l2, {512 * kib, 8, 64, 12}, cpuid),
    cache("l3", &CoreParameters::l3, {16 * mib, 16, 64, 39}, cpuid),
});

constexpr AmdProduct rome{.name = "rome",
                          .title = "Zen 2 (Rome)",
                          .family = 0x17,
                          .model = 0x31,
                          .stepping = 0,
                          .tsc_hz = 2250'000'000,
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

constexpr auto events = event_rows::join(zen::common_events, zen::ops_of_zen1);
constexpr Product products[] = {{0x17, 0x31}, {0x17, 0x60}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::rome, presets::zen2_numbers>,
                                      presets::amd_preset<presets::renoir, presets::zen2_numbers>};

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
