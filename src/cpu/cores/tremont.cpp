// SPDX-License-Identifier: MIT
#include "cores.h"
#include "goldmont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "shared/shared.h"
#include "tremont_family.h"

namespace pmusim::cores::tremont {

using namespace event_rows;

constexpr std::array tremont_own{
    row("CPU_CLK_UNHALTED.REF_TSC_P", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("MEM_LOAD_UOPS_RETIRED.L3_HIT", 0xD1, 0x04, on(load_l3_hit)),
    row("L2_REQUEST.ALL", 0x24, 0x00, sum(Q::l2_requests)),
    row("L2_REQUEST.MISS", 0x24, 0x01, sum(Q::l2_misses)),
    row("L2_REQUEST.HIT", 0x24, 0x02, sum_but_not(Q::l2_requests, Q::l2_misses)),
    row("CYCLES_DIV_BUSY.IDIV", 0xCD, 0x01, sum(Q::divider_cycles_integer)),
    row("CYCLES_DIV_BUSY.FPDIV", 0xCD, 0x02, sum(Q::divider_cycles_fp)),
    row("ICACHE.HIT", 0x80, 0x01, sum(Q::l1i_hits)),
    row("LD_BLOCKS.STORE_FORWARD", 0x03, 0x02, on(store_forward_blocked)),
    row("LD_BLOCKS.4K_ALIAS", 0x03, 0x04, on(address_alias)),
    row("LD_BLOCKS.DTLB_MISS", 0x03, 0x08, on(load_dtlb_miss)),
    row("UOPS_ISSUED.ANY", 0x0E, 0x00, sum(Q::uops_issued)),
    row("UOPS_RETIRED.MS", 0xC2, 0x01, sum(Q::slots_heavy)),
    row("TOPDOWN_BAD_SPECULATION.MACHINE_CLEARS", 0x73, 0x02,
        sum_but_not(Q::slots_bad_speculation, Q::slots_branch_mispredict)),
    row("ITLB.FILLS", 0x81, 0x04, on(itlb_miss)),
    row("TOPDOWN_BAD_SPECULATION.ALL", 0x73, 0x06, sum(Q::slots_bad_speculation)),
    row("TOPDOWN_RETIRING.ALL", 0xC2, 0x00, sum(Q::uops)),
    row("MACHINE_CLEARS.ANY", 0xC3, 0x00, on(machine_clear)),
};

constexpr auto table =
    join(goldmont_common, tremont_own, skylake_tlb, goldmont_plus_walks, atom_resteers, tremont_slots,
         tremont_memory_stalls, tremont_old_memory_stalls, atom_walks_pending, atom_direct_resteers,
         tremont_off_core, shared_rows<Microarchitecture::tremont>());

constexpr NamedEncoding named[] = {{"topdown-fe-bound", 0x0071},
                                   {"topdown-be-bound", 0x0074},
                                   {"topdown-bad-spec", 0x0673},
                                   {"topdown-retiring", 0x00C2}};
constexpr Product products[] = {{6, 0x86}, {6, 0x96}, {6, 0x9C}, {6, 0x8A}};
constexpr ProductName names[] = {{"lakefield", "tremont"}};

constexpr Preset presets[] = {
    // Adaptive PEBS on an Atom, also into a PT stream.
    {"tremont", "Tremont", "tmt", "tremont"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::tremont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = presets,
    .events = table,
    .cache_events = tremont_cache,
    .named_events = named,
    .off_core = atom_off_core,
};

}  // namespace pmusim::cores::tremont
