// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::tremont {

using namespace rows;

constexpr ExtraRegisterRow extra[] = {offcore0(0x01B7, 0x800F'F0FF'FFFF'9FFF),
                                      offcore1(0x02B7, 0x000F'F0FF'FFFF'9FFF)};

constinit const CoreTraits traits{
    .core = Microarchitecture::tremont,
    .constraints = {three_fixed, {}, {}},
    .placement = PlacementRule::tremont,
    .ack = PmiAck::late,
    .pebs_on_all_counters = true,
    .extra_registers = extra,
    .pebs = {.distribution = fixed0 | gp0},
    .has_own_capabilities = true,
};

}  // namespace pmusim::driver::cores::tremont
