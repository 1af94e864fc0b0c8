// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_SHARED_TRANSACTIONS_H
#define PMUSIM_SRC_CPU_CORES_SHARED_TRANSACTIONS_H

#include "row.h"

/// Transactions, and clocks.
namespace pmusim::event_rows::shared {

inline constexpr std::array transactions{
    SharedRow{haswell, redwood_cove, row("TX_MEM.ABORT_CONFLICT", 0x54, 0x01, on(tx_abort_conflict))},
    SharedRow{haswell, haswell, row("TX_MEM.ABORT_CAPACITY_WRITE", 0x54, 0x02, on(tx_abort_capacity))},
    SharedRow{broadwell, skylake_x, row("TX_MEM.ABORT_CAPACITY", 0x54, 0x02, on(tx_abort_capacity))},
    SharedRow{ice_lake, redwood_cove, row("TX_MEM.ABORT_CAPACITY_WRITE", 0x54, 0x02, on(tx_abort_capacity))},
    SharedRow{haswell, broadwell,
              row("RTM_RETIRED.ABORTED_MISC1", 0xC9, 0x08, on_any({tx_abort_conflict, tx_abort_capacity}))},
    SharedRow{haswell, broadwell, row("RTM_RETIRED.ABORTED_MISC3", 0xC9, 0x20, on(tx_abort_unfriendly))},
    SharedRow{haswell, broadwell, row("RTM_RETIRED.ABORTED_MISC5", 0xC9, 0x80, on(tx_abort_event))},
    SharedRow{skylake, redwood_cove,
              row("RTM_RETIRED.ABORTED_MEM", 0xC9, 0x08, on_any({tx_abort_conflict, tx_abort_capacity}))},
    SharedRow{skylake, redwood_cove,
              row("RTM_RETIRED.ABORTED_UNFRIENDLY", 0xC9, 0x20, on(tx_abort_unfriendly))},
    SharedRow{skylake, redwood_cove, row("RTM_RETIRED.ABORTED_EVENTS", 0xC9, 0x80, on(tx_abort_event))},
    SharedRow{ice_lake, redwood_cove,
              row("CPU_CLK_UNHALTED.REF_DISTRIBUTED", 0x3C, 0x08, sum(Q::reference_cycles))},
};

}  // namespace pmusim::event_rows::shared

#endif
