// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_GOLDMONT_FAMILY_H
#define PMUSIM_SRC_CPU_CORES_GOLDMONT_FAMILY_H

#include "atom_events.h"
#include "cache_events.h"

/// What Goldmont, Goldmont Plus and Tremont share.
namespace pmusim::event_rows {

inline constexpr std::array goldmont_own{
    row("CPU_CLK_UNHALTED.REF", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("BR_INST_RETIRED.ALL_TAKEN_BRANCHES", 0xC4, 0x80, on_any({near_taken, far_branch})),
    row("MEM_LOAD_UOPS_RETIRED.WCB_HIT", 0xD1, 0x40, on(load_fb_hit)),
    row("ITLB.MISS", 0x81, 0x04, on(itlb_miss)),
    row("UOPS_RETIRED.ANY", 0xC2, 0x00, sum(Q::uops)),
    row("UOPS_NOT_DELIVERED.ANY", 0x9C, 0x00, sum(Q::slots_frontend)),
    row("ISSUE_SLOTS_NOT_CONSUMED.RESOURCE_FULL", 0xCA, 0x01, sum(Q::slots_backend)),
    row("ISSUE_SLOTS_NOT_CONSUMED.RECOVERY", 0xCA, 0x02, sum(Q::slots_bad_speculation)),
    row("MACHINE_CLEARS.ALL", 0xC3, 0x00, on(machine_clear)),
    row("BACLEARS.ALL", 0xE6, 0x01, on(front_end_resteer)),
};

/// Goldmont has no L3: what misses L2 comes from memory. Values as libpfm4 encodes them.
inline constexpr std::array goldmont_off_core{
    with_extra(0x10001, row("OCR.DEMAND_DATA_RD.ANY_RESPONSE", 0xB7, 0x01, on(load_l2_miss))),
    with_extra(0x10002, row("OCR.DEMAND_RFO.ANY_RESPONSE", 0xB7, 0x01, on(store_l2_miss))),
    with_extra(0x10004, row("OCR.DEMAND_CODE_RD.ANY_RESPONSE", 0xB7, 0x01, on(l2i_miss))),
    with_extra(0x3600000001, row("OCR.DEMAND_DATA_RD.L2_MISS.ANY", 0xB7, 0x01, on(load_l2_miss))),
    with_extra(0x3600000002, row("OCR.DEMAND_RFO.L2_MISS.ANY", 0xB7, 0x01, on(store_l2_miss))),
};

inline constexpr auto goldmont_common =
    join(goldmont_fixed, goldmont_clocks, goldmont_branches, goldmont_memory_uops, goldmont_dtlb_misses,
         goldmont_load_sources, atom_machine_clears, architectural_names, architectural_mispredicts);

}  // namespace pmusim::event_rows

#endif
