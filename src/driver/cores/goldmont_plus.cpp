// SPDX-License-Identifier: MIT
#include "driver/cores/cores.h"
#include "driver/cores/shared_constraints.h"
#include "driver/cores/shared_extra_registers.h"

namespace pmusim::driver::cores {

using namespace rows;

constinit const CoreTraits goldmont_plus{
    .core = Microarchitecture::goldmont_plus,
    .constraints = {three_fixed, {}, {}},
    .placement = PlacementRule::goldmont_plus,
    .pebs_on_all_counters = true,
    .extra_registers = goldmont_extra,
    .pebs = {.counters = DsPebs::Counters::all, .distribution = gp0},
    .has_own_capabilities = true,
};

}  // namespace pmusim::driver::cores
