// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::broadwell {

using namespace rows;

constexpr ConstraintRow main_rows[] = {
    umask(0x0148, gp2),
    umasks(0xA3, 0x08, gp2),
    events(0xD0, 0xD2, gp0_3),
    event(0xCD, gp0_3),
};

constinit const CoreTraits traits{
    .core = Microarchitecture::broadwell,
    .constraints = {three_fixed, main_rows, broadwell_pebs},
    .placement = PlacementRule::haswell,
    .period = PeriodRule::broadwell,
    .alias = CyclesAlias::ivy_bridge,
    .ack = PmiAck::late,
    .extra_registers = sandy_bridge_extra,
    .memory_events = haswell_memory,
    .data_source = DataSourceEncoding::sandy_bridge,
    .pebs = {.distribution = gp1},
    .lbr = {.entries = 16},
};

}  // namespace pmusim::driver::cores::broadwell
