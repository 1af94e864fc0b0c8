// SPDX-License-Identifier: MIT
#include "cores.h"
#include "haswell_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "shared/shared.h"

namespace pmusim::cores::broadwell {

using namespace event_rows;

constexpr auto table = join(haswell_events, mispredicted_returns, broadwell_fp_arithmetic,
                            shared_rows<Microarchitecture::broadwell>());
constexpr Product products[] = {{6, 0x3D}, {6, 0x47}, {6, 0x4F}, {6, 0x56}};

constexpr Preset presets[] = {
    {"broadwell", "Broadwell", "bdw", "broadwell"},
};

/// Local memory has another bit than Haswell's.
constexpr auto cache = changed(changed(haswell_cache, {ll, read, miss, 0x01B7, 0x1F'BC00'0001}),
                               {ll, write, miss, 0x01B7, 0x1F'BC00'0002});

constinit const CoreFacts facts{
    .core = Microarchitecture::broadwell,
    .products = products,
    .presets = presets,
    .events = table,
    .cache_events = cache,
    .named_events = haswell_names,
    .off_core = haswell_off_core,
};

}  // namespace pmusim::cores::broadwell
