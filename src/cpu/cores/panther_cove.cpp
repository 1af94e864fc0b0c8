// SPDX-License-Identifier: MIT
#include "cores.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"

namespace pmusim::cores::panther_cove {

using namespace event_rows;

constexpr Product products[] = {{19, 0x01}};

constexpr Preset presets[] = {
    // Panther Cove, no hybrid: ACR on P cores, off-module response registers. Counter sets are inferred.
    {"diamondrapids", "Diamond Rapids (Panther Cove)", "", "lioncove"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::panther_cove,
    .products = products,
    .presets = presets,
    .events = panther_cove_events,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = panther_cove_cache,
    .named_events = golden_cove_memory_names,
    .off_core = omr_layout(0x2A),
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace pmusim::cores::panther_cove
