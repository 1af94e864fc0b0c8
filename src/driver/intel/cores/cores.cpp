// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"

namespace pmusim::driver::cores {

std::span<const CoreTraits* const> all() {
  static constexpr const CoreTraits* list[] = {
      &architectural::traits, &core2::traits,         &nehalem::traits,     &westmere::traits,
      &sandy_bridge::traits,  &ivy_bridge::traits,    &haswell::traits,     &broadwell::traits,
      &skylake::traits,       &skylake_x::traits,     &ice_lake::traits,    &golden_cove::traits,
      &redwood_cove::traits,  &lion_cove::traits,     &cougar_cove::traits, &panther_cove::traits,
      &coyote_cove::traits,   &bonnell::traits,       &silvermont::traits,  &knights_landing::traits,
      &goldmont::traits,      &goldmont_plus::traits, &tremont::traits,     &gracemont::traits,
      &crestmont::traits,     &skymont::traits,       &darkmont::traits,    &arctic_wolf::traits,
  };
  return list;
}

}  // namespace pmusim::driver::cores
