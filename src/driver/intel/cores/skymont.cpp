// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::skymont {

using namespace rows;

constexpr ProductTraits products[] = {{.model = 0xC5, .since = perf::Kernel::v6_14}};

constinit const CoreTraits traits{
    .core = Microarchitecture::skymont,
    .constraints = {skymont_fixed, {}, gracemont_pebs},
    .placement = PlacementRule::crestmont,
    .period = PeriodRule::reduced_skid,
    .ack = PmiAck::middle,
    .pebs_on_all_counters = true,
    .extra_registers = crestmont_extra,
    .memory_events = gracemont_memory,
    .data_source = DataSourceEncoding::crestmont,
    .splits_latency = true,
    .pebs = {.distribution = fixed0 | gp01},
    .has_own_capabilities = true,
    // Arrow Lake-H carries low-power cores of the generation before beside its Skymonts.
    .low_power = {.native_model_id = 2, .core = Microarchitecture::crestmont},
    .products = products,
    .corrected = LaterTables{.constraints = {corrected_skymont_fixed, {}, crestmont_pebs}},
};

}  // namespace pmusim::driver::cores::skymont
