// SPDX-License-Identifier: MIT
#include "cores.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"

namespace pmusim::cores::coyote_cove {

using namespace event_rows;

constexpr Product products[] = {{18, 0x01}, {18, 0x03}};
constexpr ProductName names[] = {{"novalake", "coyotecove"}};

constexpr Preset presets[] = {
    // The P core of Nova Lake; what neither a dump nor the event list shows follows Panther Cove.
    {"coyotecove", "Coyote Cove (Nova Lake P core)", "", "lioncove"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::coyote_cove,
    .products = products,
    .names = names,
    .presets = presets,
    .events = coyote_cove_events,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = coyote_cove_cache,
    .named_events = golden_cove_memory_names,
    .off_core = omr_layout(0x2A),
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace pmusim::cores::coyote_cove
