// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_ARCHITECTURAL_ROWS_H
#define PMUSIM_SRC_CPU_CORES_ARCHITECTURAL_ROWS_H

#include "core_events.h"

/// What every part has: fixed counters and architectural events.
namespace pmusim::event_rows {

inline constexpr auto architectural_rows = join(fixed_three, architectural_names, architectural_mispredicts);

/// The bus clock, where the vendor's lists have no name of their own for it.
inline constexpr std::array reference_cycles{
    row("UNHALTED_REFERENCE_CYCLES", 0x3C, 0x01, sum(Q::reference_cycles)),
};

}  // namespace pmusim::event_rows

#endif
