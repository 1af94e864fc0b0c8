// SPDX-License-Identifier: MIT
#include "cores.h"
#include "gracemont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"

namespace pmusim::cores::skymont {

using namespace event_rows;

constexpr std::array skymont_own{
    row("MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM", 0xD3, 0x01, on(load_dram)),
    row("MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM", 0xD3, 0x01, on(load_dram)),
};

constexpr auto table =
    join(gracemont_common, crestmont_fp_divider, skylake_tlb, goldmont_and_gracemont_branches,
         crestmont_load_sources, skymont_fixed, skymont_fp, crestmont_front_end, architectural_lbr_inserts,
         tremont_off_core, gracemont_bandwidth, gracemont_more, crestmont_more, skymont_reasons,
         gracemont_jumps, skymont_not_taken, skymont_slots, skymont_walks, crestmont_l2, skymont_l2,
         crestmont_buffer_hits, atom_walks_pending, atom_direct_resteers, skymont_fetch_sources,
         skymont_microcode, gracemont_any_oldest_load, skymont_own);
constexpr Product products[] = {{6, 0xBD}, {6, 0xC5}, {6, 0xC6}};
constexpr ProductName names[] = {
    {"arrowlake", "skymont"}, {"arrowlake-s", "skymont"}, {"lunarlake", "skymont"}};

constexpr Preset presets[] = {
    // Perfmon version 6, a gap in the fixed counters (top-down on 4 to 6, no SLOTS), auto counter reload:
    // the E core of Lunar Lake.
    {"skymont", "Skymont (Lunar Lake E core)", "", "skymont"},
    // Skymont in Arrow Lake-H, whose leaf 0AH says version 5 for the sake of its low-power Crestmonts.
    {"arrowlake-h-atom", "Skymont (Arrow Lake-H E core)", "", "skymont"},
};

constexpr LastLevelEvents last_level_rows[] = {{.event = 0x01B7,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = demand_last_level(any_response, 0x13F'BFC0'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::skymont,
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

}  // namespace pmusim::cores::skymont
