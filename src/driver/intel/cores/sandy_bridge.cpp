// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::sandy_bridge {

using namespace rows;

constexpr ConstraintRow main_rows[] = {
    umask(0x04A3, gp0_3), umask(0x05A3, gp0_3), umask(0x02A3, gp2), umask(0x06A3, gp2),
    event(0x48, gp2),     umask(0x01C0, gp1),   event(0xCD, gp3),   exclusive(0xD0, 0xD3, gp0_3),
};

constexpr ProductTraits products[] = {{.model = 0x2A, .extra_registers = sandy_bridge_client_extra}};

constinit const CoreTraits traits{
    .core = Microarchitecture::sandy_bridge,
    .constraints = {three_fixed, main_rows, sandy_bridge_pebs},
    .alias = CyclesAlias::sandy_bridge,
    .exclusive_counters = true,
    .extra_registers = sandy_bridge_extra,
    .memory_events = sandy_bridge_memory,
    .data_source = DataSourceEncoding::sandy_bridge,
    .lbr = {.entries = 16, .filter = BranchFilterMap::sandy_bridge},
    .products = products,
};

}  // namespace pmusim::driver::cores::sandy_bridge
