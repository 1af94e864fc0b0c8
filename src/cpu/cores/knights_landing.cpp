// SPDX-License-Identifier: MIT
#include "cores.h"
#include "early_atom_family.h"
#include "off_core_layouts.h"
#include "shared/shared.h"

namespace pmusim::cores::knights_landing {

using namespace event_rows;

constexpr std::array knights_landing_own{
    row("CPU_CLK_UNHALTED.THREAD_P", 0x3C, 0x00, sum(Q::cycles)),
    row("MEM_UOPS_RETIRED.L1_MISS_LOADS", 0x04, 0x01, on(load_l1_miss)),
    row("MEM_UOPS_RETIRED.L2_HIT_LOADS", 0x04, 0x02, on(load_l2_hit)),
    row("MEM_UOPS_RETIRED.L2_MISS_LOADS", 0x04, 0x04, on(load_l2_miss)),
    row("MEM_UOPS_RETIRED.DTLB_MISS_LOADS", 0x04, 0x08, on(load_dtlb_miss)),
    row("MEM_UOPS_RETIRED.ALL_LOADS", 0x04, 0x40, on(load)),
    row("MEM_UOPS_RETIRED.ALL_STORES", 0x04, 0x80, on(store)),
    row("RECYCLEQ.LD_BLOCK_ST_FORWARD", 0x03, 0x01, on(store_forward_blocked)),
    row("RECYCLEQ.ST_SPLITS", 0x03, 0x04, on(split_store)),
    row("RECYCLEQ.LD_SPLITS", 0x03, 0x08, on(split_load)),
    row("RECYCLEQ.LOCK", 0x03, 0x10, on(locked)),
    row("PAGE_WALKS.CYCLES", 0x05, 0x03, sum(Q::page_walk_cycles)),
    row("UOPS_RETIRED.ALL", 0xC2, 0x10, sum(Q::uops)),
};

constexpr auto table = join(architectural_rows, reference_cycles, early_atom, goldmont_branches,
                            knights_landing_own, shared_rows<Microarchitecture::knights_landing>());
constexpr Product products[] = {{6, 0x57}, {6, 0x85}};

constexpr Preset presets[] = {
    {"knightslanding", "Knights Landing", "knl", "knightslanding"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::knights_landing,
    .type = CoreType::atom,
    .products = products,
    .presets = presets,
    .events = table,
    .off_core = knights_landing_off_core_layout,
};

}  // namespace pmusim::cores::knights_landing
