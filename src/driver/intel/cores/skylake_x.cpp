// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::skylake_x {

using namespace rows;

constexpr ProductTraits products[] = {{.model = 0x55, .persistent_memory = true}};

constinit const CoreTraits traits{
    .core = Microarchitecture::skylake_x,
    .constraints = {three_fixed, skylake_main, broadwell_pebs},
    .placement = PlacementRule::haswell,
    .alias = CyclesAlias::skylake,
    .ack = PmiAck::late,
    .extra_registers = skylake_extra,
    .memory_events = haswell_memory,
    .data_source = DataSourceEncoding::skylake,
    .pebs = {.distribution = gp1},
    .products = products,
};

}  // namespace pmusim::driver::cores::skylake_x
