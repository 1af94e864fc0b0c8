// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::haswell {

using namespace rows;

constexpr ConstraintRow main_rows[] = {
    umask(0x0148, gp2),           umask(0x01C0, gp1), event(0xCD, gp3),
    umask(0x08A3, gp2),           umask(0x0CA3, gp2), umask(0x04A3, gp0_3),
    exclusive(0xD0, 0xD3, gp0_3),
};
constexpr ConstraintRow pebs_rows[] = {
    umask(0x01C0, gp1),
    umask(0x01CD, gp0_3),
    exclusive(0xD0, 0xD3, gp0_3),
    any_event(gp0_3),
};

constinit const CoreTraits traits{
    .core = Microarchitecture::haswell,
    .constraints = {three_fixed, main_rows, pebs_rows},
    .placement = PlacementRule::haswell,
    .period = PeriodRule::haswell,
    .alias = CyclesAlias::ivy_bridge,
    .ack = PmiAck::late,
    .exclusive_counters = true,
    .extra_registers = sandy_bridge_extra,
    .memory_events = haswell_memory,
    .data_source = DataSourceEncoding::sandy_bridge,
    .pebs = {.distribution = gp1},
    .lbr = {.entries = 16, .double_abort = true},
};

}  // namespace pmusim::driver::cores::haswell
