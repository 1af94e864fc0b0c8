// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/shared_constraints.h"

namespace pmusim::driver::cores::architectural {

using namespace rows;

constexpr ConstraintRow architectural_rows[] = {
    fixed(0x00C0, 0),  fixed(0x003C, 1),  fixed(0x0300, 2),  fixed(0x0400, 3),
    fixed(0x0500, 4),  fixed(0x0600, 5),  fixed(0x0700, 6),  fixed(0x0800, 7),
    fixed(0x0900, 8),  fixed(0x0A00, 9),  fixed(0x0B00, 10), fixed(0x0C00, 11),
    fixed(0x0D00, 12), fixed(0x0E00, 13), fixed(0x0F00, 14), fixed(0x1000, 15),
};

constinit const CoreTraits traits{
    .core = Microarchitecture::unknown,
    .constraints = {architectural_rows, {}, {}},
    .alias = CyclesAlias::core2,
    .lbr = {.entries = 0, .filter = BranchFilterMap::none},
    .constraints_before_version_5 = three_fixed,
};

}  // namespace pmusim::driver::cores::architectural
