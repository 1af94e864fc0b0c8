#include "event_tables_private.h"
#include "events_atom_shared.h"

namespace pmusim::event_rows {
namespace {

constexpr std::array goldmont_own{
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
constexpr std::array goldmont_off_core{
    with_extra(0x10001, row("OCR.DEMAND_DATA_RD.ANY_RESPONSE", 0xB7, 0x01, on(load_l2_miss))),
    with_extra(0x10002, row("OCR.DEMAND_RFO.ANY_RESPONSE", 0xB7, 0x01, on(store_l2_miss))),
    with_extra(0x10004, row("OCR.DEMAND_CODE_RD.ANY_RESPONSE", 0xB7, 0x01, on(l2i_miss))),
    with_extra(0x3600000001, row("OCR.DEMAND_DATA_RD.L2_MISS.ANY", 0xB7, 0x01, on(load_l2_miss))),
    with_extra(0x3600000002, row("OCR.DEMAND_RFO.L2_MISS.ANY", 0xB7, 0x01, on(store_l2_miss))),
};
constexpr std::array goldmont_only{
    row("PAGE_WALKS.CYCLES", 0x05, 0x03, sum(Q::page_walk_cycles)),
};
constexpr std::array goldmont_plus_only{
    row("INST_RETIRED.PREC_DIST", 0xC0, 0x00, on(instruction)),
    row("DL1.REPLACEMENT", 0x51, 0x01, on_any({load_l1_miss, store_l1_miss})),
};
constexpr std::array tremont_own{
    row("CPU_CLK_UNHALTED.REF_TSC_P", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("MEM_LOAD_UOPS_RETIRED.L3_HIT", 0xD1, 0x04, on(load_l3_hit)),
    row("L2_REQUEST.ALL", 0x24, 0x00, sum(Q::l2_requests)),
    row("L2_REQUEST.MISS", 0x24, 0x01, sum(Q::l2_misses)),
    row("ITLB.FILLS", 0x81, 0x04, on(itlb_miss)),
    row("TOPDOWN_BAD_SPECULATION.ALL", 0x73, 0x06, sum(Q::slots_bad_speculation)),
    row("TOPDOWN_RETIRING.ALL", 0xC2, 0x00, sum(Q::uops)),
    row("MACHINE_CLEARS.ANY", 0xC3, 0x00, on(machine_clear)),
};

constexpr auto every =
    join(goldmont_fixed, goldmont_clocks, goldmont_branches, goldmont_memory_uops, goldmont_dtlb_misses,
         goldmont_load_sources, atom_machine_clears, architectural_names, architectural_mispredicts);

constexpr auto goldmont_table = join(every, goldmont_own, goldmont_off_core, goldmont_only);
constexpr auto goldmont_plus_table =
    join(every, goldmont_own, goldmont_off_core, goldmont_plus_walks, goldmont_plus_only);
constexpr auto tremont_table = join(every, tremont_own, skylake_tlb, goldmont_plus_walks, atom_resteers,
                                    tremont_slots, tremont_memory_stalls, tremont_off_core);

}  // namespace

std::span<const EventDefinition> goldmont_events() { return goldmont_table; }
std::span<const EventDefinition> goldmont_plus_events() { return goldmont_plus_table; }
std::span<const EventDefinition> tremont_events() { return tremont_table; }

}  // namespace pmusim::event_rows
