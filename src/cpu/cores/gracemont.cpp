// SPDX-License-Identifier: MIT
#include "cores.h"
#include "gracemont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"

namespace pmusim::cores::gracemont {

using namespace event_rows;

constexpr std::array gracemont_only{
    row("MEM_LOAD_UOPS_RETIRED.L3_HIT", 0xD1, 0x04, on(load_l3_hit)),
    row("MEM_LOAD_UOPS_RETIRED_MISC.L3_MISS", 0xD2, 0x20, on(load_l3_miss)),
    row("MEM_BOUND_STALLS.LOAD_L2_MISS", 0x34, 0x06, sum(Q::stall_cycles_l2_miss)),
    row("L2_REQUEST.ALL", 0x24, 0x00, sum(Q::l2_requests)),
};
constexpr std::array gracemont_retiring{
    row("TOPDOWN_RETIRING.ALL", 0xC2, 0x00, sum(Q::uops)),
};

constexpr auto table =
    join(gracemont_common, gracemont_fp_divider, skylake_tlb, goldmont_and_gracemont_branches,
         goldmont_load_sources, gracemont_only, tremont_slots, gracemont_slots, gracemont_retiring,
         tremont_memory_stalls, tremont_off_core, gracemont_bandwidth, gracemont_more, gracemont_jumps,
         crestmont_l2, gracemont_any_oldest_load, architectural_lbr_inserts);

constexpr auto named =
    join(gracemont_memory_names,
         std::array{NamedEncoding{"topdown-fe-bound", 0x0071}, NamedEncoding{"topdown-be-bound", 0x0074},
                    NamedEncoding{"topdown-bad-spec", 0x0073}, NamedEncoding{"topdown-retiring", 0x00C2}});
constexpr Product products[] = {{6, 0xBE}, {6, 0x97}, {6, 0x9A}, {6, 0xB7}, {6, 0xBA}, {6, 0xBF}};
constexpr ProductName names[] = {{"alderlake", "gracemont"}, {"raptorlake", "gracemont"}};

constexpr Preset presets[] = {
    // Six counters, architectural LBR, load and store latency on an Atom. As in Alder Lake-N, which has no
    // P core.
    {"gracemont", "Gracemont (Alder Lake-N)", "", "gracemont"},
};

constexpr LastLevelEvents last_level_rows[] = {{.event = 0x01B7,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = demand_last_level(any_response, 0x3F'8440'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::gracemont,
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

}  // namespace pmusim::cores::gracemont
