// SPDX-License-Identifier: MIT
#include "cores.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "sandy_bridge_family.h"
#include "shared/shared.h"

namespace pmusim::cores::sandy_bridge {

using namespace event_rows;

constexpr std::array sandy_bridge_only{
    row("MEM_LOAD_UOPS_MISC_RETIRED.LLC_MISS", 0xD4, 0x02, on(load_l3_miss)),
    row("DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK", 0x08, 0x01, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x08, 0x02, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x08, 0x10, on_but_not(load_dtlb_miss, load_stlb_miss)),
    at_least(5, row("CYCLE_ACTIVITY.STALLS_L2_PENDING", 0xA3, 0x05, sum(Q::cycles_stalled_l2_misses, 5))),
    at_least(6, row("CYCLE_ACTIVITY.STALLS_L1D_PENDING", 0xA3, 0x06, sum(Q::cycles_stalled_l1d_misses, 6))),
};

constexpr auto table =
    join(sandy_bridge_common, sandy_bridge_only, shared_rows<Microarchitecture::sandy_bridge>());
constexpr Product products[] = {{6, 0x2A}, {6, 0x2D}};

constexpr Preset presets[] = {
    // Full-width counter writes, off-core filters for two events, precise stores on counter 3. Eight
    // counters per core, which hyper-threading (on here) splits into four and four.
    {"sandybridge", "Sandy Bridge", "snb", "sandybridge"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::sandy_bridge,
    .products = products,
    .presets = presets,
    .events = table,
    .generic = {.frontend_stalls = 0x010E | GenericEncodings::no_uops,
                .backend_stalls = 0x01B1 | GenericEncodings::no_uops},
    .cache_events = sandy_bridge_cache,
    .named_events = sandy_bridge_names,
    .off_core = sandy_bridge_off_core,
};

}  // namespace pmusim::cores::sandy_bridge
