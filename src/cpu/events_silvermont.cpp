#include "event_tables_private.h"
#include "events_atom_shared.h"

// The Atoms before Goldmont, and what every part has.
namespace pmusim::event_rows {
namespace {

constexpr auto architectural_table = join(fixed_three, architectural_names, architectural_mispredicts);

/// Before Goldmont; Knights Landing counts its bus clock under another umask.
constexpr std::array every{
    row("INST_RETIRED.ANY_P", 0xC0, 0x00, on(instruction)),
    row("ICACHE.MISSES", 0x80, 0x02, on(l1i_miss)),
    row("MACHINE_CLEARS.SMC", 0xC3, 0x01, on(self_modifying_clear)),
    row("BACLEARS.ANY", 0xE6, 0x01, on(front_end_resteer)),
};

constexpr std::array bonnell_own{
    row("CPU_CLK_UNHALTED.CORE_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.BUS", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("BR_INST_RETIRED.ANY", 0xC4, 0x00, on(branch)),
    row("BR_INST_RETIRED.PRED_NOT_TAKEN", 0xC4, 0x01, on_but_not(conditional_not_taken, mispredicted)),
    row("BR_INST_RETIRED.MISPRED_NOT_TAKEN", 0xC4, 0x02, on(mispredicted_conditional_not_taken)),
    row("BR_INST_RETIRED.PRED_TAKEN", 0xC4, 0x04, on_but_not(near_taken, mispredicted)),
    row("BR_INST_RETIRED.MISPRED_TAKEN", 0xC4, 0x08, on(mispredicted_near_taken)),
    row("BR_INST_RETIRED.MISPRED", 0xC4, 0x0A, on(mispredicted)),
    row("BR_INST_RETIRED.TAKEN", 0xC4, 0x0C, on(near_taken)),
    row("MEM_LOAD_RETIRED.L2_HIT", 0xCB, 0x01, on(load_l2_hit)),
    row("MEM_LOAD_RETIRED.L2_MISS", 0xCB, 0x02, on(load_l2_miss)),
    row("MEM_LOAD_RETIRED.DTLB_MISS", 0xCB, 0x04, on(load_dtlb_miss)),
    row("ITLB.MISSES", 0x82, 0x02, on(itlb_miss)),
    row("DATA_TLB_MISSES.DTLB_MISS_LD", 0x08, 0x05, on(load_dtlb_miss)),
    row("DATA_TLB_MISSES.DTLB_MISS_ST", 0x08, 0x06, on(store_dtlb_miss)),
    row("DATA_TLB_MISSES.DTLB_MISS", 0x08, 0x07, on_any({load_dtlb_miss, store_dtlb_miss})),
    row("UOPS_RETIRED.ANY", 0xC2, 0x10, sum(Q::uops)),
};

constexpr std::array silvermont_own{
    row("CPU_CLK_UNHALTED.CORE_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.REF", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("BR_INST_RETIRED.ALL_TAKEN_BRANCHES", 0xC4, 0x80, on_any({near_taken, far_branch})),
    row("MACHINE_CLEARS.MEMORY_ORDERING", 0xC3, 0x02, on(memory_ordering_clear)),
    row("MACHINE_CLEARS.ALL", 0xC3, 0x08, on(machine_clear)),
    row("PAGE_WALKS.CYCLES", 0x05, 0x03, sum(Q::page_walk_cycles)),
    row("UOPS_RETIRED.ANY", 0xC2, 0x10, sum(Q::uops)),
};

constexpr std::array knights_landing_own{
    row("CPU_CLK_UNHALTED.THREAD_P", 0x3C, 0x00, sum(Q::cycles)),
    row("MEM_UOPS_RETIRED.L1_MISS_LOADS", 0x04, 0x01, on(load_l1_miss)),
    row("MEM_UOPS_RETIRED.L2_HIT_LOADS", 0x04, 0x02, on(load_l2_hit)),
    row("MEM_UOPS_RETIRED.L2_MISS_LOADS", 0x04, 0x04, on(load_l2_miss)),
    row("MEM_UOPS_RETIRED.DTLB_MISS_LOADS", 0x04, 0x08, on(load_dtlb_miss)),
    row("MEM_UOPS_RETIRED.ALL_LOADS", 0x04, 0x40, on(load)),
    row("MEM_UOPS_RETIRED.ALL_STORES", 0x04, 0x80, on(store)),
    row("PAGE_WALKS.CYCLES", 0x05, 0x03, sum(Q::page_walk_cycles)),
    row("UOPS_RETIRED.ALL", 0xC2, 0x10, sum(Q::uops)),
};

/// The bus clock, where the vendor's lists have no name of their own for it.
constexpr std::array reference_cycles{
    row("UNHALTED_REFERENCE_CYCLES", 0x3C, 0x01, sum(Q::reference_cycles)),
};

constexpr auto bare_table = join(architectural_table, reference_cycles);
constexpr auto bonnell_table = join(architectural_table, every, bonnell_own);
constexpr auto silvermont_table = join(architectural_table, every, goldmont_branches, silvermont_own);
constexpr auto knights_landing_table =
    join(architectural_table, reference_cycles, every, goldmont_branches, knights_landing_own);

}  // namespace

std::span<const EventDefinition> architectural_event_table() { return bare_table; }
std::span<const EventDefinition> bonnell_events() { return bonnell_table; }
std::span<const EventDefinition> silvermont_events() { return silvermont_table; }
std::span<const EventDefinition> knights_landing_events() { return knights_landing_table; }

}  // namespace pmusim::event_rows
