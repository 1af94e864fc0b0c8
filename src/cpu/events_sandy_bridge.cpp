#include "event_tables_private.h"
#include "events_shared.h"

namespace pmusim::event_rows {
namespace {

constexpr std::array both{
    row("CPU_CLK_UNHALTED.THREAD_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.REF_XCLK", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("INST_RETIRED.ANY_P", 0xC0, 0x00, on(instruction)),
    row("MEM_TRANS_RETIRED.PRECISE_STORE", 0xCD, 0x02, on(store_latency)),
    row("L2_RQSTS.ALL_DEMAND_DATA_RD", 0x24, 0x03, on_any({load_l2_hit, load_l2_miss})),
    row("L2_RQSTS.DEMAND_DATA_RD_HIT", 0x24, 0x01, on(load_l2_hit)),
    row("L2_RQSTS.RFO_HIT", 0x24, 0x04, on_but_not(store_l1_miss, store_l2_miss)),
    row("L2_RQSTS.RFO_MISS", 0x24, 0x08, on(store_l2_miss)),
    row("L2_RQSTS.ALL_RFO", 0x24, 0x0C, on(store_l1_miss)),
    row("L2_RQSTS.CODE_RD_HIT", 0x24, 0x10, on_but_not(l1i_miss, l2i_miss)),
    row("L2_RQSTS.CODE_RD_MISS", 0x24, 0x20, on(l2i_miss)),
    row("L2_RQSTS.ALL_CODE_RD", 0x24, 0x30, on(l1i_miss)),
    row("DTLB_STORE_MISSES.MISS_CAUSES_A_WALK", 0x49, 0x01, sum(Q::page_walks_store)),
    row("DTLB_STORE_MISSES.WALK_COMPLETED", 0x49, 0x02, sum(Q::page_walks_store)),
    row("DTLB_STORE_MISSES.STLB_HIT", 0x49, 0x10, on_but_not(store_dtlb_miss, store_stlb_miss)),
    row("ITLB_MISSES.MISS_CAUSES_A_WALK", 0x85, 0x01, sum(Q::page_walks_instruction)),
    row("ITLB_MISSES.WALK_COMPLETED", 0x85, 0x02, sum(Q::page_walks_instruction)),
    row("ITLB_MISSES.STLB_HIT", 0x85, 0x10, on_but_not(itlb_miss, stlb_instruction_miss)),
    row("BACLEARS.ANY", 0xE6, 0x1F, on(front_end_resteer)),
};

constexpr std::array sandy_bridge_only{
    row("MEM_LOAD_UOPS_MISC_RETIRED.LLC_MISS", 0xD4, 0x02, on(load_l3_miss)),
    row("DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK", 0x08, 0x01, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x08, 0x02, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x08, 0x10, on_but_not(load_dtlb_miss, load_stlb_miss)),
    at_least(5, row("CYCLE_ACTIVITY.STALLS_L2_PENDING", 0xA3, 0x05, sum(Q::stall_cycles_l2_miss, 5))),
    at_least(6, row("CYCLE_ACTIVITY.STALLS_L1D_PENDING", 0xA3, 0x06, sum(Q::stall_cycles_l1_miss, 6))),
};

constexpr std::array ivy_bridge_only{
    row("MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM", 0xD3, 0x01, on(load_dram)),
    row("DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK", 0x08, 0x81, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x08, 0x82, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x5F, 0x04, on_but_not(load_dtlb_miss, load_stlb_miss)),
    at_least(5, row("CYCLE_ACTIVITY.STALLS_L2_PENDING", 0xA3, 0x05, sum(Q::stall_cycles_l2_miss, 5))),
    at_least(6, row("CYCLE_ACTIVITY.STALLS_LDM_PENDING", 0xA3, 0x06, sum(Q::stall_cycles_memory, 6))),
    at_least(12, row("CYCLE_ACTIVITY.STALLS_L1D_PENDING", 0xA3, 0x0C, sum(Q::stall_cycles_l1_miss, 12))),
};

constexpr auto common =
    join(fixed_three, architectural_cache, sandy_bridge_branches, precise_branches, precise_distribution,
         sandy_bridge_memory_uops, load_latency_samples, l1d_replacement, nehalem_icache,
         skylake_machine_clears, sandy_bridge_recovery, sandy_bridge_uops, slots_not_delivered,
         sandy_bridge_lbr_inserts, both, off_core(0xB7, {0x10001, 0x3F80400001, 0x10002, 0x3F80400002}),
         architectural_names, architectural_mispredicts);
constexpr auto sandy_bridge_table = join(common, sandy_bridge_only);
constexpr auto ivy_bridge_table = join(common, ivy_bridge_load_misses, ivy_bridge_only);

}  // namespace

std::span<const EventDefinition> sandy_bridge_events() { return sandy_bridge_table; }
std::span<const EventDefinition> ivy_bridge_events() { return ivy_bridge_table; }

}  // namespace pmusim::event_rows
