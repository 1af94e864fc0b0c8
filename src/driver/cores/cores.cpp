// SPDX-License-Identifier: MIT
#include "driver/cores/cores.h"

namespace pmusim::driver::cores {

std::span<const CoreTraits* const> all() {
  static constexpr const CoreTraits* list[] = {
      &architectural, &core2,        &nehalem,     &westmere,  &sandy_bridge, &ivy_bridge,      &haswell,
      &broadwell,     &skylake,      &skylake_x,   &ice_lake,  &golden_cove,  &redwood_cove,    &lion_cove,
      &cougar_cove,   &panther_cove, &coyote_cove, &bonnell,   &silvermont,   &knights_landing, &goldmont,
      &goldmont_plus, &tremont,      &gracemont,   &crestmont, &skymont,      &darkmont,        &arctic_wolf,
  };
  return list;
}

}  // namespace pmusim::driver::cores
