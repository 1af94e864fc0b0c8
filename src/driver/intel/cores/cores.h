// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_CORES_CORES_H
#define PMUSIM_SRC_DRIVER_INTEL_CORES_CORES_H

#include <span>

#include "driver/intel/cores/core_traits.h"

/// One file for each microarchitecture: what the driver takes it for.
namespace pmusim::driver::cores {

#define PMUSIM_DECLARE(core)      \
  namespace core {                \
  extern const CoreTraits traits; \
  }
PMUSIM_DECLARE(architectural)
PMUSIM_INTEL_CORES(PMUSIM_DECLARE)
#undef PMUSIM_DECLARE

/// The architectural one, and then every microarchitecture in the order of its enumeration.
std::span<const CoreTraits* const> all();

}  // namespace pmusim::driver::cores

#endif
