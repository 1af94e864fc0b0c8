// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/shared_constraints.h"

namespace pmusim::driver::cores::bonnell {

using namespace rows;

constexpr ProductTraits products[] = {{.model = 0x1C, .lbr_since_stepping = 10}};

constinit const CoreTraits traits{
    .core = Microarchitecture::bonnell,
    .constraints = {three_fixed, {}, old_atom_pebs},
    .alias = CyclesAlias::core2,
    .pebs = {.counters = DsPebs::Counters::first},
    .lbr = {.entries = 8, .filter = BranchFilterMap::none, .core_style_addresses = true},
    .products = products,
};

}  // namespace pmusim::driver::cores::bonnell
