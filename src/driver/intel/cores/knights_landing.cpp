// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::knights_landing {

using namespace rows;

constexpr ExtraRegisterRow extra[] = {offcore0(0x01B7, 0x79'9FFB'B6E7), offcore1(0x02B7, 0x39'9FFB'FFE7)};

constinit const CoreTraits traits{
    .core = Microarchitecture::knights_landing,
    .constraints = {three_fixed, {}, old_atom_pebs},
    .alias = CyclesAlias::core2,
    .extra_registers = extra,
    .pebs = {.counters = DsPebs::Counters::first},
    .lbr = {.entries = 8, .filter = BranchFilterMap::sandy_bridge, .has_unsaid_flags = true},
};

}  // namespace pmusim::driver::cores::knights_landing
