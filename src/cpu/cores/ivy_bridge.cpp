// SPDX-License-Identifier: MIT
#include "cores.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "sandy_bridge_family.h"
#include "shared/shared.h"

namespace pmusim::cores::ivy_bridge {

using namespace event_rows;

constexpr std::array ivy_bridge_only{
    row("MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM", 0xD3, 0x01, on(load_dram)),
    row("DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK", 0x08, 0x81, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x08, 0x82, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x5F, 0x04, on_but_not(load_dtlb_miss, load_stlb_miss)),
    at_least(5, row("CYCLE_ACTIVITY.STALLS_L2_PENDING", 0xA3, 0x05, sum(Q::cycles_stalled_l2_misses, 5))),
    at_least(6, row("CYCLE_ACTIVITY.STALLS_LDM_PENDING", 0xA3, 0x06, sum(Q::cycles_stalled_loads, 6))),
    at_least(12, row("CYCLE_ACTIVITY.STALLS_L1D_PENDING", 0xA3, 0x0C, sum(Q::cycles_stalled_l1d_misses, 12))),
};

constexpr auto table = join(sandy_bridge_common, ivy_bridge_load_misses, ivy_bridge_only,
                            shared_rows<Microarchitecture::ivy_bridge>());

/// The one cache event in which Ivy Bridge differs from Sandy Bridge: DTLB_LOAD_MISSES has other umasks.
constexpr auto cache = changed(sandy_bridge_cache, {dtlb, read, miss, 0x8108});
constexpr Product products[] = {{6, 0x3A}, {6, 0x3E}};

constexpr Preset presets[] = {
    {"ivybridge", "Ivy Bridge", "ivb", "ivybridge"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::ivy_bridge,
    .products = products,
    .presets = presets,
    .events = table,
    .generic = {.frontend_stalls = 0x010E | GenericEncodings::no_uops},
    .cache_events = cache,
    .named_events = sandy_bridge_names,
    .off_core = sandy_bridge_off_core,
};

}  // namespace pmusim::cores::ivy_bridge
