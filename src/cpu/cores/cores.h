// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_CORES_H
#define PMUSIM_SRC_CPU_CORES_CORES_H

#include <span>

#include "cpu/core_facts.h"

/// One file for each microarchitecture: what is true of it, and its products.
namespace pmusim::cores {

#define PMUSIM_DECLARE(core)    \
  namespace core {              \
  extern const CoreFacts facts; \
  }
PMUSIM_DECLARE(architectural)
PMUSIM_INTEL_CORES(PMUSIM_DECLARE)
PMUSIM_AMD_CORES(PMUSIM_DECLARE)
#undef PMUSIM_DECLARE

/// The architectural one, and then every microarchitecture in the order of its enumeration.
std::span<const CoreFacts* const> all();

}  // namespace pmusim::cores

#endif
