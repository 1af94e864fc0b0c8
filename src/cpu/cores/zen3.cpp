// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim::cores::zen3 {

constexpr auto events = event_rows::join(zen::common_events, zen::flops_by_kind, zen::until_zen3,
                                         zen::since_zen2, zen::zen2_and_3, zen::since_zen3, zen::zen3_and_4);
constexpr Product products[] = {{0x19, 0x01}, {0x19, 0x21}, {0x19, 0x50}};

constexpr Preset presets[] = {
    {"milan", "Zen 3 (Milan)", "", "milan"},
    {"vermeer", "Zen 3 (Vermeer)", "", "milan"},
    {"cezanne", "Zen 3 (Cezanne)", "", "milan"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::zen3,
    .products = products,
    .presets = presets,
    .events = events,
    .generic_rows = zen::generic_of_zen2,
    .cache_events = zen::cache_events,
    .node_is_read_only = true,
};

}  // namespace pmusim::cores::zen3
