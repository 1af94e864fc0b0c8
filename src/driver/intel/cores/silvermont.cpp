// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::silvermont {

using namespace rows;

constexpr ExtraRegisterRow extra[] = {offcore0(0x01B7, 0x76'8005'FFFF), offcore1(0x02B7, 0x36'8005'FFFF)};

constinit const CoreTraits traits{
    .core = Microarchitecture::silvermont,
    .constraints = {three_fixed, {}, old_atom_pebs},
    .alias = CyclesAlias::core2,
    .extra_registers = extra,
    .pebs = {.counters = DsPebs::Counters::first},
    .lbr = {.entries = 8, .filter = BranchFilterMap::nehalem, .core_style_addresses = true},
};

}  // namespace pmusim::driver::cores::silvermont
