// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim::cores::zen5 {

constexpr auto events = event_rows::join(zen::common_events, zen::flops_by_kind, zen::since_zen2,
                                         zen::since_zen3, zen::since_zen4, zen::only_zen5);
constexpr Product products[] = {{0x1A, 0x02}, {0x1A, 0x44}, {0x1A, 0x24}};

constexpr Preset presets[] = {
    {"turin", "Zen 5 (Turin)", "", "turin"},
    {"granite-ridge", "Zen 5 (Granite Ridge)", "", "turin"},
    {"strix", "Zen 5 (Strix)", "", "turin"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::zen5,
    .products = products,
    .presets = presets,
    .events = events,
    .generic_rows = zen::generic_of_zen4,
    .cache_events = zen::cache_events,
    .node_is_read_only = true,
};

}  // namespace pmusim::cores::zen5
