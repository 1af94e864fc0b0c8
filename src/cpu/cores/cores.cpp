// SPDX-License-Identifier: MIT
#include "cores.h"

namespace pmusim::cores {

std::span<const CoreFacts* const> all() {
  static constexpr const CoreFacts* list[] = {
      &architectural, &core2,        &nehalem,     &westmere,  &sandy_bridge, &ivy_bridge,      &haswell,
      &broadwell,     &skylake,      &skylake_x,   &ice_lake,  &golden_cove,  &redwood_cove,    &lion_cove,
      &cougar_cove,   &panther_cove, &coyote_cove, &bonnell,   &silvermont,   &knights_landing, &goldmont,
      &goldmont_plus, &tremont,      &gracemont,   &crestmont, &skymont,      &darkmont,        &arctic_wolf,
  };
  return list;
}

}  // namespace pmusim::cores
