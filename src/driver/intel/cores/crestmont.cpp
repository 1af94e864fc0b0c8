// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::crestmont {

using namespace rows;

constexpr ProductTraits products[] = {{.model = 0xC5, .since = perf::Kernel::v6_14}};

constinit const CoreTraits traits{
    .core = Microarchitecture::crestmont,
    .constraints = {gracemont_fixed, {}, gracemont_pebs},
    .placement = PlacementRule::crestmont,
    .period = PeriodRule::reduced_skid,
    .ack = PmiAck::middle,
    .pebs_on_all_counters = true,
    .extra_registers = crestmont_extra,
    .memory_events = gracemont_memory,
    .data_source = DataSourceEncoding::crestmont,
    .splits_latency = true,
    .pebs = {.distribution = fixed0 | gp01},
    .products = products,
    .corrected = LaterTables{.constraints = {corrected_gracemont_fixed, {}, crestmont_pebs}},
};

}  // namespace pmusim::driver::cores::crestmont
