// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_CORES_CORES_H
#define PMUSIM_SRC_DRIVER_CORES_CORES_H

#include <span>

#include "driver/cores/core_traits.h"

/// One file for each microarchitecture: what the driver takes it for. The list of them is in cores.cpp.
namespace pmusim::driver::cores {

extern const CoreTraits architectural;
extern const CoreTraits core2;
extern const CoreTraits nehalem;
extern const CoreTraits westmere;
extern const CoreTraits sandy_bridge;
extern const CoreTraits ivy_bridge;
extern const CoreTraits haswell;
extern const CoreTraits broadwell;
extern const CoreTraits skylake;
extern const CoreTraits skylake_x;
extern const CoreTraits ice_lake;
extern const CoreTraits golden_cove;
extern const CoreTraits redwood_cove;
extern const CoreTraits lion_cove;
extern const CoreTraits cougar_cove;
extern const CoreTraits panther_cove;
extern const CoreTraits coyote_cove;
extern const CoreTraits bonnell;
extern const CoreTraits silvermont;
extern const CoreTraits knights_landing;
extern const CoreTraits goldmont;
extern const CoreTraits goldmont_plus;
extern const CoreTraits tremont;
extern const CoreTraits gracemont;
extern const CoreTraits crestmont;
extern const CoreTraits skymont;
extern const CoreTraits darkmont;
extern const CoreTraits arctic_wolf;

std::span<const CoreTraits* const> all();

}  // namespace pmusim::driver::cores

#endif
