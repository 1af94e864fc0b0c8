// SPDX-License-Identifier: MIT
#include "cores.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "shared/shared.h"

namespace pmusim::cores::redwood_cove {

using namespace event_rows;

constexpr auto table =
    join(before_lion_cove, front_end_retired(0x03), shared_rows<Microarchitecture::redwood_cove>());
constexpr Product products[] = {{6, 0xAC}, {6, 0xAA}, {6, 0xB5}, {6, 0xAD}, {6, 0xAE}};
constexpr ProductName names[] = {{"meteorlake", "redwoodcove"}};

constexpr Preset presets[] = {
    // Redwood Cove as the P core of Meteor Lake.
    {"redwoodcove", "Redwood Cove (Meteor Lake P core)", "spr", "redwoodcove"},
    // Redwood Cove of Granite Rapids: leaf 23H, retire latency in PEBS records.
    {"graniterapids", "Granite Rapids", "spr", "redwoodcove"},
};

constexpr u32 servers[] = {0xAD, 0xAE};
constexpr LastLevelEvents last_level_rows[] = {
    {.event = 0x012A, .models = servers, .values = {0x10001, 0x3F'BFC0'0001, 0x3F'3FFC'0002, 0x3F'3FC0'0002}},
    {.event = 0x012A, .edition = CacheTable::Edition::corrected, .values = client_last_level}};

constinit const CoreFacts facts{
    .core = Microarchitecture::redwood_cove,
    .products = products,
    .names = names,
    .presets = presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .last_level = last_level_rows,
    .named_events = golden_cove_memory_names,
    .off_core = golden_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace pmusim::cores::redwood_cove
