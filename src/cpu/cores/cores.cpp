// SPDX-License-Identifier: MIT
#include "cores.h"

namespace pmusim::cores {

std::span<const CoreFacts* const> all() {
  static constexpr const CoreFacts* list[] = {
      &architectural::facts, &core2::facts,         &nehalem::facts,     &westmere::facts,
      &sandy_bridge::facts,  &ivy_bridge::facts,    &haswell::facts,     &broadwell::facts,
      &skylake::facts,       &skylake_x::facts,     &ice_lake::facts,    &golden_cove::facts,
      &redwood_cove::facts,  &lion_cove::facts,     &cougar_cove::facts, &panther_cove::facts,
      &coyote_cove::facts,   &bonnell::facts,       &silvermont::facts,  &knights_landing::facts,
      &goldmont::facts,      &goldmont_plus::facts, &tremont::facts,     &gracemont::facts,
      &crestmont::facts,     &skymont::facts,       &darkmont::facts,    &arctic_wolf::facts,
      &zen1::facts,          &zen2::facts,          &zen3::facts,        &zen4::facts,
      &zen5::facts,
  };
  return list;
}

}  // namespace pmusim::cores
