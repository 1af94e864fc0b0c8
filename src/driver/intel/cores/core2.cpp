// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/shared_constraints.h"

namespace pmusim::driver::cores::core2 {

using namespace rows;

constexpr ConstraintRow main_rows[] = {
    event(0x10, gp0), event(0x11, gp1), event(0x12, gp1), event(0x13, gp1), event(0x14, gp0),
    event(0x18, gp0), event(0x19, gp1), event(0xA1, gp0), event(0xC9, gp0), event(0xCB, gp0),
};
constexpr ConstraintRow pebs_rows[] = {
    umask(0x00C0, gp0), umask(0xFEC1, gp0), umask(0x00C5, gp0),
    umask(0x1FC7, gp0), event(0xCB, gp0),   row(0xC0 | cycles_alias, whole_event, 0, gp0),
};

constinit const CoreTraits traits{
    .core = Microarchitecture::core2,
    .constraints = {three_fixed, main_rows, pebs_rows},
    .alias = CyclesAlias::core2,
    .pebs = {.counters = DsPebs::Counters::first},
    .lbr = {.entries = 4, .filter = BranchFilterMap::none, .core_style_addresses = true},
};

}  // namespace pmusim::driver::cores::core2
