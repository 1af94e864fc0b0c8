// SPDX-License-Identifier: MIT
#include "cores.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"

namespace pmusim::cores::lion_cove {

using namespace event_rows;

constexpr Product products[] = {{6, 0xBD}, {6, 0xC5}, {6, 0xC6}};
constexpr ProductName names[] = {
    {"arrowlake", "lioncove"}, {"arrowlake-s", "lioncove"}, {"lunarlake", "lioncove"}};

constexpr Preset presets[] = {
    // Ten counters, perfmon version 6, records of format 6, branch counters in the LBR: the P core of
    // Lunar Lake.
    {"lioncove", "Lion Cove (Lunar Lake P core)", "", "lioncove"},
    // Arrow Lake-H carries low-power Crestmonts, so that its Lion Cove reports version 5 and writes format
    // 5.
    {"arrowlake-h", "Lion Cove (Arrow Lake-H P core)", "", "lioncove"},
};

constexpr u32 lunar_lake[] = {0xBD};
constexpr LastLevelEvents last_level_rows[] = {{.event = 0x012A,
                                                .models = lunar_lake,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = lion_cove_last_level},
                                               {.event = 0x012A,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = demand_last_level(any_response, 0xFE7'F800'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::lion_cove,
    .products = products,
    .names = names,
    .presets = presets,
    .events = lion_cove_events,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .last_level = last_level_rows,
    .named_events = golden_cove_memory_names,
    .off_core = lion_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace pmusim::cores::lion_cove
