// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_SHARED_FRONT_END_H
#define PMUSIM_SRC_CPU_CORES_SHARED_FRONT_END_H

#include "row.h"

/// Where uops come from, and what fetch waits for.
namespace pmusim::event_rows::shared {

inline constexpr std::array front_end{
    SharedRow{core2, core2, row("L1I_READS", 0x80, 0x00, sum_of({Q::l1i_hits, Q::l1i_misses}))},
    SharedRow{core2, core2, row("ITLB.SMALL_MISS", 0x82, 0x02, on(itlb_miss))},
    SharedRow{core2, core2, row("ITLB.MISSES", 0x82, 0x12, on(itlb_miss))},
    SharedRow{core2, core2, row("CYCLES_L1I_MEM_STALLED", 0x86, 0x00, sum(Q::l1i_stall_cycles))},
    SharedRow{bonnell, knights_landing,
              row("ICACHE.ACCESSES", 0x80, 0x03, sum_of({Q::l1i_hits, Q::l1i_misses}))},
    SharedRow{goldmont, tremont, row("ICACHE.ACCESSES", 0x80, 0x03, sum_of({Q::l1i_hits, Q::l1i_misses}))},
    SharedRow{silvermont, knights_landing, row("ICACHE.HIT", 0x80, 0x01, sum(Q::l1i_hits))},
    SharedRow{sandy_bridge, broadwell, row("ICACHE.HIT", 0x80, 0x01, sum(Q::l1i_hits))},
    SharedRow{goldmont, goldmont_plus, row("ICACHE.HIT", 0x80, 0x01, sum(Q::l1i_hits))},
    SharedRow{ivy_bridge, haswell, row("ICACHE.IFETCH_STALL", 0x80, 0x04, sum(Q::l1i_stall_cycles))},
    SharedRow{broadwell, broadwell, row("ICACHE.IFDATA_STALL", 0x80, 0x04, sum(Q::l1i_stall_cycles))},
    SharedRow{silvermont, knights_landing,
              row("BACLEARS.COND", 0xE6, 0x10, on_all({front_end_resteer, conditional}))},
    SharedRow{goldmont, goldmont_plus,
              row("BACLEARS.COND", 0xE6, 0x10, on_all({front_end_resteer, conditional}))},
    SharedRow{nehalem, ice_lake, row("ILD_STALL.LCP", 0x87, 0x01, sum(Q::length_stall_cycles))},
    SharedRow{nehalem, westmere,
              row("ITLB_MISSES.STLB_HIT", 0x85, 0x10, on_but_not(itlb_miss, stlb_instruction_miss))},
    SharedRow{westmere, westmere,
              row("ITLB_MISSES.WALK_CYCLES", 0x85, 0x04, sum(Q::page_walk_cycles_instruction))},
    SharedRow{sandy_bridge, ivy_bridge,
              row("ITLB_MISSES.WALK_DURATION", 0x85, 0x04, sum(Q::page_walk_cycles_instruction))},
    SharedRow{haswell, skylake_x,
              row("ITLB_MISSES.WALK_DURATION", 0x85, 0x10, sum(Q::page_walk_cycles_instruction))},
    SharedRow{haswell, broadwell,
              row("ITLB_MISSES.STLB_HIT_4K", 0x85, 0x20, on_but_not(itlb_miss, stlb_instruction_miss))},
    SharedRow{ice_lake, ice_lake,
              row("ITLB_MISSES.WALK_PENDING", 0x85, 0x10, sum(Q::page_walk_cycles_instruction))},
    SharedRow{golden_cove, redwood_cove,
              row("ITLB_MISSES.WALK_PENDING", 0x11, 0x10, sum(Q::page_walk_cycles_instruction))},
    SharedRow{nehalem, westmere, row("L1I.CYCLES_STALLED", 0x80, 0x04, sum(Q::l1i_stall_cycles))},
    SharedRow{nehalem, westmere, row("L1I.HITS", 0x80, 0x01, sum(Q::l1i_hits))},
    SharedRow{nehalem, westmere, row("L1I.READS", 0x80, 0x03, sum_of({Q::l1i_hits, Q::l1i_misses}))},
    SharedRow{nehalem, nehalem, at_least(1, row("LSD.ACTIVE", 0xA8, 0x01, sum(Q::uops_lsd)))},
    SharedRow{westmere, redwood_cove, row("LSD.UOPS", 0xA8, 0x01, sum(Q::uops_lsd))},
    SharedRow{sandy_bridge, ivy_bridge, row("DSB2MITE_SWITCHES.COUNT", 0xAB, 0x01, on(dsb_to_mite))},
    SharedRow{sandy_bridge, ice_lake,
              row("DSB2MITE_SWITCHES.PENALTY_CYCLES", 0xAB, 0x02, sum(Q::dsb_to_mite_cycles))},
    SharedRow{golden_cove, redwood_cove,
              row("DSB2MITE_SWITCHES.PENALTY_CYCLES", 0x61, 0x02, sum(Q::dsb_to_mite_cycles))},
    SharedRow{sandy_bridge, redwood_cove, row("IDQ.MITE_UOPS", 0x79, 0x04, sum(Q::uops_mite))},
    SharedRow{sandy_bridge, redwood_cove, row("IDQ.DSB_UOPS", 0x79, 0x08, sum(Q::uops_dsb))},
    SharedRow{sandy_bridge, ice_lake, row("IDQ.MS_UOPS", 0x79, 0x30, sum(Q::uops_ms))},
    SharedRow{sandy_bridge, ivy_bridge, row("IDQ.ALL_DSB_UOPS", 0x79, 0x18, sum(Q::uops_dsb))},
    SharedRow{sandy_bridge, ivy_bridge, row("IDQ.ALL_MITE_UOPS", 0x79, 0x24, sum(Q::uops_mite))},
    SharedRow{sandy_bridge, ivy_bridge,
              row("IDQ.ANY_UOPS", 0x79, 0x3C, sum_of({Q::uops_dsb, Q::uops_mite, Q::uops_ms}))},
    SharedRow{haswell, skylake_x,
              at_least(4, row("IDQ.ALL_DSB_CYCLES_4_UOPS", 0x79, 0x18, sum(Q::uops_dsb)))},
    SharedRow{haswell, skylake_x,
              at_least(4, row("IDQ.ALL_MITE_CYCLES_4_UOPS", 0x79, 0x24, sum(Q::uops_mite)))},
    SharedRow{haswell, skylake_x, row("IDQ.ALL_MITE_UOPS", 0x79, 0x3C, sum(Q::uops_mite))},
    SharedRow{golden_cove, redwood_cove, row("IDQ.MS_UOPS", 0x79, 0x20, sum(Q::uops_ms))},
    SharedRow{skylake, ice_lake, row("ICACHE_16B.IFDATA_STALL", 0x80, 0x04, sum(Q::l1i_stall_cycles))},
    SharedRow{skylake, ice_lake, row("ICACHE_64B.IFTAG_HIT", 0x83, 0x01, sum(Q::l1i_hits))},
    SharedRow{golden_cove, redwood_cove,
              row("INT_MISC.UNKNOWN_BRANCH_CYCLES", 0xAD, 0x07, sum(Q::resteer_cycles))},
    SharedRow{golden_cove, redwood_cove, row("DECODE.LCP", 0x87, 0x01, sum(Q::length_stall_cycles))},
    SharedRow{golden_cove, redwood_cove, row("ICACHE_DATA.STALLS", 0x80, 0x04, sum(Q::l1i_stall_cycles))},
};

}  // namespace pmusim::event_rows::shared

#endif
