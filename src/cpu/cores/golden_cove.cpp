// SPDX-License-Identifier: MIT
#include "cores.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "shared/shared.h"

namespace pmusim::cores::golden_cove {

using namespace event_rows;

constexpr auto table =
    join(before_lion_cove, front_end_retired(0x01), shared_rows<Microarchitecture::golden_cove>());
constexpr auto named = join(golden_cove_memory_names, std::array{NamedEncoding{"mem-loads-aux", 0x8203}});
constexpr Product products[] = {{6, 0x97}, {6, 0x9A}, {6, 0xB7}, {6, 0xBA},
                                {6, 0xBF}, {6, 0x8F}, {6, 0xCF}, {6, 0xD7}};
constexpr ProductName names[] = {{"alderlake", "goldencove"}, {"raptorlake", "goldencove"}};

constexpr Preset presets[] = {
    // Golden Cove as the P core of Alder Lake: leaf 0AH shows what it shares with Gracemont. So does
    // PERF_CAPABILITIES, but for metrics: the erratum that clears its bit 15 is of Raptor Lake and Meteor
    // Lake (RPL018), and Linux 7.3 takes it as it reads here.
    {"goldencove", "Golden Cove (Alder Lake P core)", "spr", "goldencove"},
    // Sapphire Rapids: Golden Cove with architectural LBR and all eight bytes of PERF_METRICS.
    {"sapphirerapids", "Sapphire Rapids", "spr", "goldencove"},
    {"emeraldrapids", "Emerald Rapids", "spr", "goldencove"},
};

constexpr u32 servers[] = {0x8F, 0xCF};
constexpr LastLevelEvents last_level_rows[] = {
    {.event = 0x012A, .models = servers, .values = {0x10001, 0x3F'BFC0'0001, 0x3F'3FFC'0002, 0x3F'3FC0'0002}},
    {.event = 0x012A, .edition = CacheTable::Edition::corrected, .values = client_last_level}};

constinit const CoreFacts facts{
    .core = Microarchitecture::golden_cove,
    .products = products,
    .names = names,
    .presets = presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .last_level = last_level_rows,
    .named_events = named,
    .off_core = golden_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace pmusim::cores::golden_cove
