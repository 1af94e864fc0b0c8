// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim {
namespace presets {
namespace {
using enum FactSource;

constexpr auto zen1_numbers = std::to_array<CoreNumber>({
    count("issue_width", &CoreParameters::issue_width, 6, published),
    count("retire_width", &CoreParameters::retire_width, 8, published),
    count("reorder_buffer_uops", &CoreParameters::reorder_buffer_uops, 192, published),
    cache("l1i", &CoreParameters::l1i, {64 * kib, 4, 64, 4}, cpuid),
    cache("l1d", &CoreParameters::l1d, {32 * kib, 8, 64, 4}, cpuid),
    cache("l2", &CoreParameters::l2, {512 * kib, 8, 64, 17}, cpuid),
    cache("l3", &CoreParameters::l3, {8 * mib, 16, 64, 40}, cpuid),
});

constexpr AmdProduct naples{.name = "naples",
                            .title = "Zen (Naples)",
                            .family = 0x17,
                            .model = 0x01,
                            .stepping = 2,
                            .tsc_hz = 2200'000'000,
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

constexpr auto events = event_rows::join(zen::common_events, zen::ops_of_zen1);
constexpr Product products[] = {{0x17, 0x01}};
constexpr Preset product_presets[] = {presets::amd_preset<presets::naples, presets::zen1_numbers>};

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
