// SPDX-License-Identifier: MIT
#include "cores.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"

namespace pmusim::cores::cougar_cove {

using namespace event_rows;

constexpr Product products[] = {{6, 0xCC}, {6, 0xE5}, {6, 0xD5}};
constexpr ProductName names[] = {{"pantherlake", "cougarcove"}};

constexpr Preset presets[] = {
    // Architectural PEBS: the P core of Panther Lake.
    {"cougarcove", "Cougar Cove (Panther Lake P core)", "", "lioncove"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::cougar_cove,
    .products = products,
    .names = names,
    .presets = presets,
    .events = cougar_cove_events,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = cougar_cove_cache,
    .named_events = golden_cove_memory_names,
    .off_core = lion_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace pmusim::cores::cougar_cove
