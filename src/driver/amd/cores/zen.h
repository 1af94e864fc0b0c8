// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_AMD_CORES_ZEN_H
#define PMUSIM_SRC_DRIVER_AMD_CORES_ZEN_H

#include "pmusim/cpu/model.h"

namespace pmusim::driver {

/// Whose event tables Linux takes for AMD's products of this CPUID family and model, whether they are known
/// or not: families after 1AH have those of Zen 5. `unknown` below family 17H.
Microarchitecture zen_core(u32 family, u32 model);

}  // namespace pmusim::driver

#endif
