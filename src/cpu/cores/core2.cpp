// SPDX-License-Identifier: MIT
#include "core_events.h"
#include "cores.h"
#include "shared/shared.h"

namespace pmusim::cores::core2 {

using namespace event_rows;

constexpr std::array own{
    row("INST_RETIRED.ANY_P", 0xC0, 0x00, on(instruction)),
    row("INST_RETIRED.LOADS", 0xC0, 0x01, on(load)),
    row("INST_RETIRED.STORES", 0xC0, 0x02, on(store)),
    row("CPU_CLK_UNHALTED.CORE_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.BUS", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("BR_INST_RETIRED.ANY", 0xC4, 0x00, on(branch)),
    row("BR_INST_RETIRED.PRED_NOT_TAKEN", 0xC4, 0x01, on_but_not(conditional_not_taken, mispredicted)),
    row("BR_INST_RETIRED.MISPRED_NOT_TAKEN", 0xC4, 0x02, on(mispredicted_conditional_not_taken)),
    row("BR_INST_RETIRED.PRED_TAKEN", 0xC4, 0x04, on_but_not(near_taken, mispredicted)),
    row("BR_INST_RETIRED.MISPRED_TAKEN", 0xC4, 0x08, on(mispredicted_near_taken)),
    row("BR_INST_RETIRED.TAKEN", 0xC4, 0x0C, on(near_taken)),
    row("BR_INST_RETIRED_MISPRED", 0xC5, 0x00, on(mispredicted)),
    row("MEM_LOAD_RETIRED.L1D_MISS", 0xCB, 0x01, on(load_l1_miss)),
    row("MEM_LOAD_RETIRED.L2_MISS", 0xCB, 0x04, on(load_l2_miss)),
    row("MEM_LOAD_RETIRED.DTLB_MISS", 0xCB, 0x10, on(load_dtlb_miss)),
    row("DTLB_MISSES.ANY", 0x08, 0x01, on_any({load_dtlb_miss, store_dtlb_miss})),
    row("DTLB_MISSES.MISS_LD", 0x08, 0x02, on(load_dtlb_miss)),
    row("DTLB_MISSES.MISS_ST", 0x08, 0x08, on(store_dtlb_miss)),
    row("PAGE_WALKS.CYCLES", 0x0C, 0x02, sum(Q::page_walk_cycles)),
    row("ITLB_MISS_RETIRED", 0xC9, 0x00, on(itlb_miss)),
    row("L1I_MISSES", 0x81, 0x00, on(l1i_miss)),
    row("L1D_REPL", 0x45, 0x0F, on_any({load_l1_miss, store_l1_miss})),
    row("UOPS_RETIRED.ANY", 0xC2, 0x0F, sum(Q::uops)),
    row("X87_OPS_RETIRED.ANY", 0xC1, 0xFE, on(x87)),
    row("RESOURCE_STALLS.BR_MISS_CLEAR", 0xDC, 0x10, sum(Q::recovery_cycles)),
    row("BACLEARS", 0xE6, 0x00, on(front_end_resteer)),
    row("LOAD_BLOCK.OVERLAP_STORE", 0x03, 0x08, on_any({store_forward_blocked, address_alias})),
    row("MACHINE_NUKES.SMC", 0xC3, 0x01, on(self_modifying_clear)),
    row("MACHINE_NUKES.MEM_ORDER", 0xC3, 0x04, on(memory_ordering_clear)),
};

constexpr auto table = join(fixed_three, own, architectural_names, architectural_mispredicts,
                            shared_rows<Microarchitecture::core2>());
/// Event and umask, or any umask.
constexpr PebsEvent pebs_events[] = {{0xC0, 0x00}, {0xC1, 0xFE}, {0xC5, 0x00}, {0xC7, 0x1F}, {0xCB}};
constexpr Product products[] = {{6, 0x0F, PebsErrata::unusable}, {6, 0x16}, {6, 0x17}, {6, 0x1D}};

constexpr Preset presets[] = {
    {"core2", "Core 2 (Merom)", "core", "core2"},
    {"penryn", "Core 2 (Penryn)", "core", "penryn"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::core2,
    .products = products,
    .presets = presets,
    .events = table,
    .pebs_events = {.kind = PebsEvents::Kind::listed, .listed = pebs_events},
};

}  // namespace pmusim::cores::core2
