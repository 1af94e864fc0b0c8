// SPDX-License-Identifier: MIT
#include "cores.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "shared/shared.h"
#include "skylake_family.h"

namespace pmusim::cores::skylake {

using namespace event_rows;

constexpr auto table = join(skylake_events, shared_rows<Microarchitecture::skylake>());
constexpr Product products[] = {{6, 0x4E}, {6, 0x5E}, {6, 0x8E}, {6, 0x9E}, {6, 0xA5}, {6, 0xA6}, {6, 0x66}};
constexpr ProductName names[] = {
    {"kabylake", "skylake"}, {"coffeelake", "skylake"}, {"cometlake", "skylake"}, {"whiskeylake", "skylake"}};

constexpr Preset presets[] = {
    // Streamlined freeze, 32 LBR records with cycle counts, PEBS records with a time stamp, front-end
    // events.
    {"skylake", "Skylake", "skl", "skylake"},
    {"cannonlake", "Cannon Lake", "skl", "cannonlake"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::skylake,
    .products = products,
    .names = names,
    .presets = presets,
    .events = table,
    .cache_events = skylake_cache,
    .named_events = haswell_names,
    .off_core = skylake_off_core_layout,
};

}  // namespace pmusim::cores::skylake
