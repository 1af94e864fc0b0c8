// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim::cores::zen1 {

constexpr auto events =
    event_rows::join(zen::common_events, zen::until_zen2, zen::until_zen3, zen::only_zen1);
constexpr Product products[] = {{0x17, 0x01}, {0x17, 0x08}};

constexpr Preset presets[] = {
    {"naples", "Zen (Naples)", "", "naples"},
    {"pinnacle-ridge", "Zen+ (Pinnacle Ridge)", "", "naples"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::zen1,
    .products = products,
    .presets = presets,
    .events = events,
    .generic_rows = zen::generic_of_zen1,
    .cache_events = zen::cache_events,
    .node_is_read_only = true,
};

}  // namespace pmusim::cores::zen1
