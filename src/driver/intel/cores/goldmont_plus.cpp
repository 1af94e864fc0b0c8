// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::goldmont_plus {

using namespace rows;

constinit const CoreTraits traits{
    .core = Microarchitecture::goldmont_plus,
    .constraints = {three_fixed, {}, {}},
    .placement = PlacementRule::goldmont_plus,
    .pebs_on_all_counters = true,
    .extra_registers = goldmont_extra,
    .pebs = {.counters = DsPebs::Counters::all, .distribution = gp0},
    .has_own_capabilities = true,
};

}  // namespace pmusim::driver::cores::goldmont_plus
