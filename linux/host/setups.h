// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_SETUPS_H
#define PMUSIM_LINUX_HOST_SETUPS_H

#include <vector>

#include "host/outcome.h"

namespace pmusim::linux_driver {

/// Of perf's registers those of an integer program.
inline constexpr u64 general_registers = 0xff0fff;

/// Set-ups of AMD's models alone.
std::vector<Setup> amd_setups();

}  // namespace pmusim::linux_driver

#endif
