// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::lion_cove {

using namespace rows;

constexpr ProductTraits products[] = {{.model = 0xC5, .since = perf::Kernel::v6_14}};

constinit const CoreTraits traits{
    .core = Microarchitecture::lion_cove,
    .constraints = {golden_cove_fixed, lion_cove_main, lion_cove_pebs},
    .placement = PlacementRule::redwood_cove,
    .period = PeriodRule::reduced_skid,
    .ack = PmiAck::late,
    .pebs_on_all_counters = true,
    .extra_registers = lion_cove_extra,
    .memory_events = lion_cove_memory,
    .data_source = DataSourceEncoding::lion_cove,
    .splits_latency = true,
    .pebs = {.distribution = fixed0 | gp01},
    .has_own_capabilities = true,
    .products = products,
    .corrected = LaterTables{.constraints = {corrected_golden_cove_fixed, corrected_lion_cove_main,
                                             corrected_lion_cove_pebs}},
};

}  // namespace pmusim::driver::cores::lion_cove
