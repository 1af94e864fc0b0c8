// SPDX-License-Identifier: MIT
#include "cores.h"
#include "early_atom_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "shared/shared.h"

namespace pmusim::cores::silvermont {

using namespace event_rows;

constexpr std::array silvermont_own{
    row("CPU_CLK_UNHALTED.CORE_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.REF", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("BR_INST_RETIRED.ALL_TAKEN_BRANCHES", 0xC4, 0x80, on_any({near_taken, far_branch})),
    row("MACHINE_CLEARS.MEMORY_ORDERING", 0xC3, 0x02, on(memory_ordering_clear)),
    row("MACHINE_CLEARS.ALL", 0xC3, 0x08, on(machine_clear)),
    row("REHABQ.LD_BLOCK_ST_FORWARD", 0x03, 0x01, on(store_forward_blocked)),
    row("REHABQ.ST_SPLITS", 0x03, 0x04, on(split_store)),
    row("REHABQ.LD_SPLITS", 0x03, 0x08, on(split_load)),
    row("REHABQ.LOCK", 0x03, 0x10, on(locked)),
    row("PAGE_WALKS.CYCLES", 0x05, 0x03, sum(Q::page_walk_cycles)),
    row("UOPS_RETIRED.ANY", 0xC2, 0x10, sum(Q::uops)),
};

constexpr auto table = join(architectural_rows, early_atom, goldmont_branches, silvermont_own,
                            shared_rows<Microarchitecture::silvermont>());
constexpr Product products[] = {{6, 0x37}, {6, 0x4A}, {6, 0x4D}, {6, 0x5A}, {6, 0x5D}, {6, 0x4C}};
constexpr ProductName names[] = {{"airmont", "silvermont"}};

constexpr Preset presets[] = {
    {"silvermont", "Silvermont", "slm", "silvermont"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::silvermont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = presets,
    .events = table,
    .named_events = silvermont_slots,
    .off_core = silvermont_off_core_layout,
};

}  // namespace pmusim::cores::silvermont
