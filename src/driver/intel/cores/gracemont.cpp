// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::gracemont {

using namespace rows;

constexpr ExtraRegisterRow extra[] = {offcore0(0x01B7, 0x3F'FFFF'FFFF), offcore1(0x02B7, 0x3F'FFFF'FFFF),
                                      load_latency(0x05D0)};

constexpr ExtraRegisterRow corrected_extra[] = {
    offcore0(0x01B7, 0x8003'F03F'FFFF'FFFF), offcore1(0x02B7, 0x0003'F03F'FFFF'FFFF), load_latency(0x05D0)};

constinit const CoreTraits traits{
    .core = Microarchitecture::gracemont,
    .constraints = {gracemont_fixed, {}, gracemont_pebs},
    .placement = PlacementRule::tremont,
    .period = PeriodRule::reduced_skid,
    .ack = PmiAck::middle,
    .pebs_on_all_counters = true,
    .extra_registers = extra,
    .memory_events = gracemont_memory,
    .data_source = DataSourceEncoding::gracemont,
    .splits_latency = true,
    .pebs = {.distribution = fixed0 | gp0},
    .hybrid_counters = gp0_5 | u64{0x7} << 32,
    .corrected = LaterTables{.constraints = {corrected_gracemont_fixed, {}, gracemont_pebs},
                             .extra_registers = corrected_extra},
};

}  // namespace pmusim::driver::cores::gracemont
