// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::darkmont {

using namespace rows;

constinit const CoreTraits traits{
    .core = Microarchitecture::darkmont,
    .constraints = {corrected_skymont_fixed, {}, darkmont_pebs},
    .placement = PlacementRule::crestmont,
    .period = PeriodRule::reduced_skid,
    .ack = PmiAck::middle,
    .pebs_on_all_counters = true,
    .extra_registers = crestmont_extra,
    .memory_events = gracemont_memory,
    .data_source = DataSourceEncoding::crestmont,
    .splits_latency = true,
    .has_own_capabilities = true,
    .since = change::cougar_cove,
};

}  // namespace pmusim::driver::cores::darkmont
