// SPDX-License-Identifier: MIT
#include "cores.h"
#include "gracemont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"

namespace pmusim::cores::arctic_wolf {

using namespace event_rows;

constexpr std::array tlb{
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x08, 0x0E, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x08, 0x60, on_but_not(load_dtlb_miss, load_stlb_miss)),
    row("DTLB_STORE_MISSES.WALK_COMPLETED", 0x49, 0x0E, sum(Q::page_walks_store)),
    row("DTLB_STORE_MISSES.STLB_HIT", 0x49, 0x60, on_but_not(store_dtlb_miss, store_stlb_miss)),
    row("ITLB_MISSES.WALK_COMPLETED", 0x85, 0x0E, sum(Q::page_walks_instruction)),
    row("ITLB_MISSES.STLB_HIT", 0x85, 0x20, on_but_not(itlb_miss, stlb_instruction_miss)),
};
/// Arctic Wolf asks off-core responses through the OMR registers, whose codes are their own.
constexpr auto table = join(since_darkmont, tlb, gracemont_any_oldest_load, off_core(0xB7, omr_values));
/// They ask for what bit 3 stands for, too, of which the core sends nothing.
constexpr auto cache =
    join(tremont_near_cache,
         last_level(0x01B7, demand_last_level(any_omr_response | bit(3), 0x00FF'03F0'0000'0008)));
constexpr Product products[] = {{18, 0x01}, {18, 0x03}};
constexpr ProductName names[] = {{"novalake", "arcticwolf"}};

constexpr Preset presets[] = {
    // The E core of Nova Lake; what no dump has shown yet follows Darkmont.
    {"arcticwolf", "Arctic Wolf (Nova Lake E core)", "", "skymont"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::arctic_wolf,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = cache,
    .named_events = skymont_names,
    .off_core = omr_layout(0xB7, bits(31, 4)),
};

}  // namespace pmusim::cores::arctic_wolf
