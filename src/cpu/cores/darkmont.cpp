// SPDX-License-Identifier: MIT
#include "cores.h"
#include "gracemont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"

namespace pmusim::cores::darkmont {

using namespace event_rows;

constexpr auto table = join(since_darkmont, skylake_tlb, tremont_off_core, gracemont_bandwidth);
constexpr Product products[] = {{6, 0xDD}, {6, 0xCC}, {6, 0xE5}, {6, 0xD5}};
constexpr ProductName names[] = {{"pantherlake", "darkmont"}};

constexpr Preset presets[] = {
    // Architectural PEBS beside ACR: the E core of Panther Lake.
    {"darkmont", "Darkmont (Panther Lake E core)", "", "skymont"},
    // Darkmont alone, so that leaf 0AH describes it; no dump seen.
    {"clearwaterforest", "Clearwater Forest (Darkmont)", "", "skymont"},
};

constexpr u32 servers[] = {0xDD};
constexpr LastLevelEvents last_level_rows[] = {
    {.event = 0x01B7, .models = servers, .values = demand_last_level(any_response, 0x33F'BFC0'0000)},
    {.event = 0x01B7, .values = demand_last_level(any_response, 0x13F'BFC0'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::darkmont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = tremont_cache,
    .last_level = last_level_rows,
    .named_events = skymont_names,
    .off_core = atom_off_core,
};

}  // namespace pmusim::cores::darkmont
