// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_SHARED_OUTSTANDING_H
#define PMUSIM_SRC_CPU_CORES_SHARED_OUTSTANDING_H

#include "row.h"

/// What is under way in a cycle.
namespace pmusim::event_rows::shared {

inline constexpr std::array outstanding{
    SharedRow{core2, core2, row("L1D_PEND_MISS", 0x48, 0x00, sum(Q::l1d_misses_under_way))},
    SharedRow{sandy_bridge, redwood_cove,
              row("L1D_PEND_MISS.PENDING", 0x48, 0x01, sum(Q::l1d_misses_under_way))},
    SharedRow{sandy_bridge, ivy_bridge,
              at_least(1, row("L1D_PEND_MISS.FB_FULL", 0x48, 0x02, sum(Q::fill_buffers_full_cycles)))},
    SharedRow{broadwell, broadwell,
              at_least(1, row("L1D_PEND_MISS.FB_FULL", 0x48, 0x02, sum(Q::fill_buffers_full_cycles)))},
    SharedRow{haswell, haswell,
              row("L1D_PEND_MISS.REQUEST_FB_FULL", 0x48, 0x02, sum(Q::fill_buffers_full_cycles))},
    SharedRow{skylake, redwood_cove,
              row("L1D_PEND_MISS.FB_FULL", 0x48, 0x02, sum(Q::fill_buffers_full_cycles))},
    SharedRow{westmere, westmere,
              row("OFFCORE_REQUESTS_OUTSTANDING.DEMAND_READ_CODE", 0x60, 0x02, sum(Q::code_reads_under_way))},
    SharedRow{westmere, westmere,
              row("OFFCORE_REQUESTS_OUTSTANDING.DEMAND_READ_DATA", 0x60, 0x01, sum(Q::data_reads_under_way))},
    SharedRow{westmere, skylake_x,
              row("OFFCORE_REQUESTS_OUTSTANDING.DEMAND_RFO", 0x60, 0x04, sum(Q::ownership_reads_under_way))},
    SharedRow{sandy_bridge, ice_lake,
              row("OFFCORE_REQUESTS_OUTSTANDING.ALL_DATA_RD", 0x60, 0x08, sum(Q::all_data_reads_under_way))},
    SharedRow{sandy_bridge, ice_lake,
              row("OFFCORE_REQUESTS_OUTSTANDING.DEMAND_CODE_RD", 0x60, 0x02, sum(Q::code_reads_under_way))},
    SharedRow{sandy_bridge, ice_lake,
              row("OFFCORE_REQUESTS_OUTSTANDING.DEMAND_DATA_RD", 0x60, 0x01, sum(Q::data_reads_under_way))},
    SharedRow{skylake, ice_lake,
              row("OFFCORE_REQUESTS_OUTSTANDING.L3_MISS_DEMAND_DATA_RD", 0x60, 0x10,
                  sum(Q::memory_reads_under_way))},
    SharedRow{golden_cove, redwood_cove,
              row("OFFCORE_REQUESTS_OUTSTANDING.ALL_DATA_RD", 0x20, 0x08, sum(Q::all_data_reads_under_way))},
    SharedRow{golden_cove, redwood_cove,
              at_least(1, row("OFFCORE_REQUESTS_OUTSTANDING.CYCLES_WITH_DEMAND_RFO", 0x20, 0x04,
                              sum(Q::ownership_reads_under_way)))},
    SharedRow{ice_lake, ice_lake,
              row("OFFCORE_REQUESTS_OUTSTANDING.DEMAND_RFO", 0x60, 0x04, sum(Q::ownership_reads_under_way))},
    SharedRow{sandy_bridge, ice_lake,
              row("OFFCORE_REQUESTS.ALL_DATA_RD", 0xB0, 0x08, sum(Q::all_data_reads))},
    SharedRow{golden_cove, redwood_cove, row("OFFCORE_REQUESTS.DATA_RD", 0x21, 0x08, sum(Q::all_data_reads))},
    SharedRow{sandy_bridge, broadwell,
              at_least(1, row("CYCLE_ACTIVITY.CYCLES_L2_PENDING", 0xA3, 0x01, sum(Q::cycles_l2_misses, 1)))},
    SharedRow{
        sandy_bridge, sandy_bridge,
        at_least(2, row("CYCLE_ACTIVITY.CYCLES_L1D_PENDING", 0xA3, 0x02, sum(Q::cycles_l1d_misses, 2)))},
    SharedRow{
        sandy_bridge, sandy_bridge,
        at_least(4, row("CYCLE_ACTIVITY.CYCLES_NO_DISPATCH", 0xA3, 0x04, sum(Q::cycles_executing_none, 4)))},
    SharedRow{ivy_bridge, broadwell,
              at_least(2, row("CYCLE_ACTIVITY.CYCLES_LDM_PENDING", 0xA3, 0x02, sum(Q::cycles_loads, 2)))},
    SharedRow{
        ivy_bridge, broadwell,
        at_least(8, row("CYCLE_ACTIVITY.CYCLES_L1D_PENDING", 0xA3, 0x08, sum(Q::cycles_l1d_misses, 8)))},
    SharedRow{
        ivy_bridge, haswell,
        at_least(4, row("CYCLE_ACTIVITY.CYCLES_NO_EXECUTE", 0xA3, 0x04, sum(Q::cycles_executing_none, 4)))},
    SharedRow{broadwell, broadwell,
              at_least(4, row("CYCLE_ACTIVITY.STALLS_TOTAL", 0xA3, 0x04, sum(Q::cycles_executing_none, 4)))},
    SharedRow{skylake, redwood_cove,
              at_least(1, row("CYCLE_ACTIVITY.CYCLES_L2_MISS", 0xA3, 0x01, sum(Q::cycles_l2_misses, 1)))},
    SharedRow{skylake, ice_lake,
              at_least(2, row("CYCLE_ACTIVITY.CYCLES_L3_MISS", 0xA3, 0x02, sum(Q::cycles_l3_misses, 2)))},
    SharedRow{skylake, redwood_cove,
              at_least(8, row("CYCLE_ACTIVITY.CYCLES_L1D_MISS", 0xA3, 0x08, sum(Q::cycles_l1d_misses, 8)))},
    SharedRow{skylake, redwood_cove,
              at_least(16, row("CYCLE_ACTIVITY.CYCLES_MEM_ANY", 0xA3, 0x10, sum(Q::cycles_loads, 16)))},
    SharedRow{golden_cove, redwood_cove,
              at_least(12, row("CYCLE_ACTIVITY.STALLS_L1D_MISS", 0xA3, 0x0C,
                               sum(Q::cycles_stalled_l1d_misses, 12)))},
    SharedRow{
        golden_cove, redwood_cove,
        at_least(5, row("CYCLE_ACTIVITY.STALLS_L2_MISS", 0xA3, 0x05, sum(Q::cycles_stalled_l2_misses, 5)))},
    SharedRow{
        golden_cove, redwood_cove,
        at_least(6, row("CYCLE_ACTIVITY.STALLS_L3_MISS", 0xA3, 0x06, sum(Q::cycles_stalled_l3_misses, 6)))},
    SharedRow{golden_cove, redwood_cove,
              at_least(2, row("MEMORY_ACTIVITY.CYCLES_L1D_MISS", 0x47, 0x02, sum(Q::cycles_l1d_misses, 2)))},
};

}  // namespace pmusim::event_rows::shared

#endif
