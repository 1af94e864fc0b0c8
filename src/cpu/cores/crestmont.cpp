// SPDX-License-Identifier: MIT
#include "cores.h"
#include "gracemont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"

namespace pmusim::cores::crestmont {

using namespace event_rows;

constexpr std::array crestmont_own{
    row("MEM_BOUND_STALLS_LOAD.LLC_HIT", 0x34, 0x06,
        sum_but_not(Q::stall_cycles_l2_miss, Q::stall_cycles_l3_miss)),
    row("MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM", 0xD3, 0x01, on(load_dram)),
    row("MEM_LOAD_UOPS_L3_MISS_RETIRED.ALL", 0xD3, 0xFF, on(load_l3_miss)),
    row("MEM_LOAD_UOPS_MISC_RETIRED.LOCAL_DRAM", 0xD4, 0x02, on(load_dram)),
};
constexpr std::array crestmont_retiring{
    row("TOPDOWN_RETIRING.ALL", 0x72, 0x00, sum(Q::uops)),
};

constexpr auto table =
    join(gracemont_common, crestmont_fp_divider, skylake_tlb, goldmont_and_gracemont_branches,
         crestmont_load_sources, tremont_slots, gracemont_slots, crestmont_retiring, tremont_memory_stalls,
         crestmont_front_end, architectural_lbr_inserts, tremont_off_core, gracemont_bandwidth,
         gracemont_more, crestmont_more, gracemont_jumps, crestmont_l2, crestmont_buffer_hits,
         atom_walks_pending, skymont_fp, gracemont_any_oldest_load, crestmont_own);

constexpr auto named =
    join(gracemont_memory_names,
         std::array{NamedEncoding{"topdown-fe-bound", 0x0071}, NamedEncoding{"topdown-be-bound", 0x0074},
                    NamedEncoding{"topdown-bad-spec", 0x0073}, NamedEncoding{"topdown-retiring", 0x0072}});
constexpr Product products[] = {{6, 0xAF}, {6, 0xB6}, {6, 0xAC}, {6, 0xAA}, {6, 0xB5}};
constexpr ProductName names[] = {{"meteorlake", "crestmont"}, {"grandridge", "sierraforest"}};

constexpr Preset presets[] = {
    // The E core of Meteor Lake; leaf 0AH happens to describe it in full.
    {"crestmont", "Crestmont (Meteor Lake E core)", "", "crestmont"},
    // Crestmont as in Sierra Forest: eight counters, leaf 23H, branch counters in the LBR. No dump seen;
    // follows Meteor Lake's E core in the rest.
    {"sierraforest", "Sierra Forest (Crestmont)", "", "crestmont"},
};

constexpr LastLevelEvents last_level_rows[] = {{.event = 0x01B7,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = demand_last_level(any_response, 0x3F'BFC0'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::crestmont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = tremont_cache,
    .last_level = last_level_rows,
    .named_events = named,
    .off_core = atom_off_core,
};

}  // namespace pmusim::cores::crestmont
