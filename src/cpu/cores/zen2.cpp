// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim::cores::zen2 {

constexpr auto events = event_rows::join(zen::common_events, zen::flops_by_kind, zen::until_zen2,
                                         zen::until_zen3, zen::since_zen2, zen::zen2_and_3, zen::only_zen2);
constexpr Product products[] = {{0x17, 0x31}, {0x17, 0x60}, {0x17, 0x71}};

constexpr Preset presets[] = {
    {"rome", "Zen 2 (Rome)", "", "rome"},
    {"renoir", "Zen 2 (Renoir)", "", "rome"},
    {"matisse", "Zen 2 (Matisse)", "", "rome"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::zen2,
    .products = products,
    .presets = presets,
    .events = events,
    .generic_rows = zen::generic_of_zen2,
    .cache_events = zen::cache_events,
    .node_is_read_only = true,
};

}  // namespace pmusim::cores::zen2
