// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::coyote_cove {

using namespace rows;

constinit const CoreTraits traits{
    .core = Microarchitecture::coyote_cove,
    .constraints = {corrected_golden_cove_fixed, panther_cove_main, panther_cove_pebs},
    .placement = PlacementRule::redwood_cove,
    .period = PeriodRule::reduced_skid,
    .ack = PmiAck::late,
    .pebs_on_all_counters = true,
    .extra_registers = panther_cove_extra,
    .memory_events = lion_cove_memory,
    .data_source = DataSourceEncoding::panther_cove,
    .splits_latency = true,
    .has_own_capabilities = true,
    .since = change::panther_cove,
};

}  // namespace pmusim::driver::cores::coyote_cove
