// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::arctic_wolf {

using namespace rows;

// Off-module responses: the umask names the one OMR register, and with it the counter.
constexpr ConstraintRow main_rows[] = {
    umask(0x01B7, 0x1), umask(0x02B7, 0x2), umask(0x04B7, 0x4), umask(0x08B7, 0x8),
    umask(0x0175, gp0), umask(0x0275, gp1), umask(0x21D3, gp0), umask(0x22D3, gp0),
};

constexpr u64 arctic_wolf_omr = 0xC0FF'FFFF'FFFF'FFFF;
constexpr ExtraRegisterRow extra[] = {{0x01B7, msr::OMR_0, arctic_wolf_omr, omr},
                                      {0x02B7, msr::OMR_0 + 1, arctic_wolf_omr, omr},
                                      {0x04B7, msr::OMR_0 + 2, arctic_wolf_omr, omr},
                                      {0x08B7, msr::OMR_0 + 3, arctic_wolf_omr, omr},
                                      load_latency(0x05D0),
                                      {0x0127, msr::SNOOP_RSP_0, ~u64{0}, 0},
                                      {0x0227, msr::SNOOP_RSP_1, ~u64{0}, 0}};

constinit const CoreTraits traits{
    .core = Microarchitecture::arctic_wolf,
    .constraints = {corrected_skymont_fixed, main_rows, darkmont_pebs},
    .placement = PlacementRule::crestmont,
    .period = PeriodRule::reduced_skid,
    .ack = PmiAck::middle,
    .pebs_on_all_counters = true,
    .extra_registers = extra,
    .memory_events = gracemont_memory,
    .data_source = DataSourceEncoding::arctic_wolf,
    .splits_latency = true,
    .has_own_capabilities = true,
    .since = change::panther_cove,
};

}  // namespace pmusim::driver::cores::arctic_wolf
