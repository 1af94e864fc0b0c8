// SPDX-License-Identifier: MIT
#include "cores.h"
#include "early_atom_family.h"
#include "shared/shared.h"

namespace pmusim::cores::bonnell {

using namespace event_rows;

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

constexpr auto table =
    join(architectural_rows, early_atom, bonnell_own, shared_rows<Microarchitecture::bonnell>());
constexpr Product products[] = {{6, 0x1C}, {6, 0x26}, {6, 0x27}, {6, 0x35}, {6, 0x36}};

constexpr Preset presets[] = {
    // The first Atom: two counters of 40 bits. Leaf 0AH of the later steppings (Pineview) is the one given
    // here.
    {"bonnell", "Bonnell", "atom", "bonnell"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::bonnell,
    .type = CoreType::atom,
    .products = products,
    .presets = presets,
    .events = table,
};

}  // namespace pmusim::cores::bonnell
