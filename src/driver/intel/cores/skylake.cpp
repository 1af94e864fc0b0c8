// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::skylake {

using namespace rows;

// Cannon Lake is in no table of 6.12 and 7.3; of those in between nothing has been seen.
constexpr ProductTraits products[] = {
    {.model = 0x66, .since = perf::Kernel::v6_14, .until = perf::Kernel::v7_3}};

constinit const CoreTraits traits{
    .core = Microarchitecture::skylake,
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

}  // namespace pmusim::driver::cores::skylake
