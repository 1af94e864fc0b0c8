// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim::cores::zen4 {

constexpr auto events = event_rows::join(zen::common_events, zen::flops_by_kind, zen::since_zen2,
                                         zen::since_zen3, zen::zen3_and_4, zen::since_zen4, zen::only_zen4);
constexpr Product products[] = {{0x19, 0x11}, {0x19, 0x61}, {0x19, 0x74}, {0x19, 0xA0}};

constexpr Preset presets[] = {
    {"genoa", "Zen 4 (Genoa)", "", "genoa"},
    {"raphael", "Zen 4 (Raphael)", "", "genoa"},
    // Firmware of the first parts has the LBR stack without freezing on PMI.
    {"raphael-early", "Zen 4 (Raphael, early firmware)", "", "genoa"},
    {"phoenix", "Zen 4 (Phoenix)", "", "genoa"},
    {"bergamo", "Zen 4c (Bergamo)", "", "genoa"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::zen4,
    .products = products,
    .presets = presets,
    .events = events,
    .generic_rows = zen::generic_of_zen4,
    .cache_events = zen::cache_events,
    .node_is_read_only = true,
};

}  // namespace pmusim::cores::zen4
