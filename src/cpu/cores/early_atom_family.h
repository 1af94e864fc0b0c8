// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_EARLY_ATOM_FAMILY_H
#define PMUSIM_SRC_CPU_CORES_EARLY_ATOM_FAMILY_H

#include "architectural_rows.h"
#include "atom_events.h"

/// What the Atoms before Goldmont share.
namespace pmusim::event_rows {

/// Before Goldmont; Knights Landing counts its bus clock under another umask.
inline constexpr std::array early_atom{
    row("INST_RETIRED.ANY_P", 0xC0, 0x00, on(instruction)),
    row("ICACHE.MISSES", 0x80, 0x02, on(l1i_miss)),
    row("MACHINE_CLEARS.SMC", 0xC3, 0x01, on(self_modifying_clear)),
    row("BACLEARS.ANY", 0xE6, 0x01, on(front_end_resteer)),
};

}  // namespace pmusim::event_rows

#endif
