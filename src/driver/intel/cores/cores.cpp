// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"

namespace pmusim::driver::cores {

std::span<const CoreTraits* const> all() {
#define PMUSIM_LIST(core) &core::traits,
  static constexpr const CoreTraits* list[] = {&architectural::traits, PMUSIM_INTEL_CORES(PMUSIM_LIST)};
#undef PMUSIM_LIST
  return list;
}

}  // namespace pmusim::driver::cores
