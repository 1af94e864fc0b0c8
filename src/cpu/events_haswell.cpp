#include "event_tables_private.h"
#include "events_shared.h"

namespace pmusim::event_rows {
namespace {

constexpr std::array own{
    row("INST_RETIRED.X87", 0xC0, 0x02, on(x87)),
    row("MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM", 0xD3, 0x01, on(load_dram)),
    row("DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK", 0x08, 0x01, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x08, 0x0E, sum(Q::page_walks_load)),
    row("DTLB_LOAD_MISSES.STLB_HIT", 0x08, 0x60, on_but_not(load_dtlb_miss, load_stlb_miss)),
    row("DTLB_STORE_MISSES.MISS_CAUSES_A_WALK", 0x49, 0x01, sum(Q::page_walks_store)),
    row("DTLB_STORE_MISSES.WALK_COMPLETED", 0x49, 0x0E, sum(Q::page_walks_store)),
    row("DTLB_STORE_MISSES.STLB_HIT", 0x49, 0x60, on_but_not(store_dtlb_miss, store_stlb_miss)),
    row("ITLB_MISSES.MISS_CAUSES_A_WALK", 0x85, 0x01, sum(Q::page_walks_instruction)),
    row("ITLB_MISSES.WALK_COMPLETED", 0x85, 0x0E, sum(Q::page_walks_instruction)),
    row("ITLB_MISSES.STLB_HIT", 0x85, 0x60, on_but_not(itlb_miss, stlb_instruction_miss)),
    at_least(5, row("CYCLE_ACTIVITY.STALLS_L2_PENDING", 0xA3, 0x05, sum(Q::stall_cycles_l2_miss, 5))),
    at_least(6, row("CYCLE_ACTIVITY.STALLS_LDM_PENDING", 0xA3, 0x06, sum(Q::stall_cycles_memory, 6))),
    at_least(12, row("CYCLE_ACTIVITY.STALLS_L1D_PENDING", 0xA3, 0x0C, sum(Q::stall_cycles_l1_miss, 12))),
    row("BACLEARS.ANY", 0xE6, 0x1F, on(front_end_resteer)),
};

constexpr auto haswell_table =
    join(fixed_three, haswell_clocks, precise_distribution, architectural_cache, sandy_bridge_branches,
         sandy_bridge_memory_uops, ivy_bridge_load_misses, load_latency_samples, haswell_l2, haswell_l2_hits,
         l1d_replacement, nehalem_icache, skylake_machine_clears, sandy_bridge_recovery, sandy_bridge_uops,
         slots_not_delivered, sandy_bridge_lbr_inserts, haswell_transactions, own,
         off_core(0xB7, {0x10001, 0x3F80400001, 0x10002, 0x3F80400002}), architectural_names,
         architectural_mispredicts);
constexpr auto broadwell_table = join(haswell_table, mispredicted_returns, broadwell_fp_arithmetic);

}  // namespace

std::span<const EventDefinition> haswell_events() { return haswell_table; }
std::span<const EventDefinition> broadwell_events() { return broadwell_table; }

}  // namespace pmusim::event_rows
