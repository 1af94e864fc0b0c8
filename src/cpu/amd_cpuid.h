// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_AMD_CPUID_H
#define PMUSIM_SRC_CPU_AMD_CPUID_H

#include "pmusim/cpu/model.h"

namespace pmusim {

/// Gives a model of AMD's what the words of its CPUID say: IBPB, the LBR stack, where XSAVE's components lie.
void derive_from_cpuid(CpuModel& model);

}  // namespace pmusim

#endif
