// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::goldmont {

using namespace rows;

constinit const CoreTraits traits{
    .core = Microarchitecture::goldmont,
    .constraints = {three_fixed, {}, old_atom_pebs},
    .extra_registers = goldmont_extra,
    .pebs = {.counters = DsPebs::Counters::first, .distribution = gp0},
    .has_own_capabilities = true,
};

}  // namespace pmusim::driver::cores::goldmont
