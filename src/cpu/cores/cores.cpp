// SPDX-License-Identifier: MIT
#include "cores.h"

namespace pmusim::cores {

std::span<const CoreFacts* const> all() {
#define PMUSIM_LIST(core) &core::facts,
  static constexpr const CoreFacts* list[] = {&architectural::facts,
                                              PMUSIM_INTEL_CORES(PMUSIM_LIST) PMUSIM_AMD_CORES(PMUSIM_LIST)};
#undef PMUSIM_LIST
  return list;
}

}  // namespace pmusim::cores
