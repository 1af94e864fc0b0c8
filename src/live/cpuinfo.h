// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_CPUINFO_H
#define PMUSIM_SRC_LIVE_CPUINFO_H

#include <string>

#include "pmusim/cpu/setup.h"

namespace pmusim::live {

/// /proc/cpuinfo of a machine: the CPUs that are online, each with what its model says. Its flags are what
/// the model's CPUID has, and the instruction sets that every x86-64 CPU has: programs execute on the real
/// CPU, which need not have a model's AVX.
std::string cpuinfo(const Topology& machine);

}  // namespace pmusim::live

#endif
