// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::ivy_bridge {

using namespace rows;

constexpr ConstraintRow main_rows[] = {
    umask(0x0148, gp2),   umask(0x0279, gp0_3), umask(0x019C, gp0_3),         umask(0x02A3, gp0_3),
    umask(0x04A3, gp0_3), umask(0x05A3, gp0_3), umask(0x06A3, gp0_3),         umask(0x08A3, gp2),
    umask(0x0CA3, gp2),   umask(0x01C0, gp1),   exclusive(0xD0, 0xD3, gp0_3),
};

constexpr ProductTraits products[] = {{.model = 0x3A, .extra_registers = sandy_bridge_client_extra}};

constinit const CoreTraits traits{
    .core = Microarchitecture::ivy_bridge,
    .constraints = {three_fixed, main_rows, sandy_bridge_pebs},
    .alias = CyclesAlias::ivy_bridge,
    .exclusive_counters = true,
    .extra_registers = sandy_bridge_extra,
    .memory_events = sandy_bridge_memory,
    .data_source = DataSourceEncoding::sandy_bridge,
    .pebs = {.distribution = gp1},
    .lbr = {.entries = 16, .filter = BranchFilterMap::sandy_bridge},
    .products = products,
};

}  // namespace pmusim::driver::cores::ivy_bridge
