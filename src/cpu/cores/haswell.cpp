// SPDX-License-Identifier: MIT
#include "cores.h"
#include "haswell_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "shared/shared.h"

namespace pmusim::cores::haswell {

using namespace event_rows;

constexpr auto table = join(haswell_events, shared_rows<Microarchitecture::haswell>());
constexpr Product products[] = {{6, 0x3C}, {6, 0x3F}, {6, 0x45}, {6, 0x46}};

constexpr Preset presets[] = {
    // TSX and its counter filters, an LBR call stack, records with the IP of the sampled instruction
    // itself.
    {"haswell", "Haswell", "hsw", "haswell"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::haswell,
    .products = products,
    .presets = presets,
    .events = table,
    .cache_events = haswell_cache,
    .named_events = haswell_names,
    .off_core = haswell_off_core,
};

}  // namespace pmusim::cores::haswell
