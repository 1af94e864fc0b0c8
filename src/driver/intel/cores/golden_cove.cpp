// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::golden_cove {

using namespace rows;

constexpr ExtraRegisterRow extra[] = {offcore0(0x012A, 0x3F'FFFF'FFFF),
                                      offcore1(0x012B, 0x3F'FFFF'FFFF),
                                      load_latency(0x01CD),
                                      frontend(0x01C6, 0x7F'FF1F),
                                      frontend(0x40AD, 0x7),
                                      frontend(0x04C2, 0x8)};

constexpr ProductTraits products[] = {{.model = 0x8F, .persistent_memory = true},
                                      {.model = 0xCF, .persistent_memory = true}};

constinit const CoreTraits traits{
    .core = Microarchitecture::golden_cove,
    .constraints = {golden_cove_fixed, golden_cove_main, golden_cove_pebs},
    .placement = PlacementRule::golden_cove,
    .period = PeriodRule::reduced_skid,
    .ack = PmiAck::late,
    .pebs_on_all_counters = true,
    .load_latency_companion = 0x8203,
    .extra_registers = extra,
    .memory_events = golden_cove_memory,
    .data_source = DataSourceEncoding::golden_cove,
    .splits_latency = true,
    .pebs = {.distribution = fixed0 | gp0},
    .hybrid_counters = gp0_7 | u64{0xF} << 32,
    .products = products,
    .corrected = LaterTables{.constraints = {corrected_golden_cove_fixed, corrected_golden_cove_main,
                                             corrected_golden_cove_pebs}},
};

}  // namespace pmusim::driver::cores::golden_cove
