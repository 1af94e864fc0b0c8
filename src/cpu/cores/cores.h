// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_CORES_H
#define PMUSIM_SRC_CPU_CORES_CORES_H

#include <span>

#include "cpu/core_facts.h"

/// One file for each microarchitecture: what is true of it, and its products. The list of them is in
/// cores.cpp.
namespace pmusim::cores {

extern const CoreFacts architectural;
extern const CoreFacts core2;
extern const CoreFacts nehalem;
extern const CoreFacts westmere;
extern const CoreFacts sandy_bridge;
extern const CoreFacts ivy_bridge;
extern const CoreFacts haswell;
extern const CoreFacts broadwell;
extern const CoreFacts skylake;
extern const CoreFacts skylake_x;
extern const CoreFacts ice_lake;
extern const CoreFacts golden_cove;
extern const CoreFacts redwood_cove;
extern const CoreFacts lion_cove;
extern const CoreFacts cougar_cove;
extern const CoreFacts panther_cove;
extern const CoreFacts coyote_cove;

extern const CoreFacts bonnell;
extern const CoreFacts silvermont;
extern const CoreFacts knights_landing;
extern const CoreFacts goldmont;
extern const CoreFacts goldmont_plus;
extern const CoreFacts tremont;
extern const CoreFacts gracemont;
extern const CoreFacts crestmont;
extern const CoreFacts skymont;
extern const CoreFacts darkmont;
extern const CoreFacts arctic_wolf;

/// Every microarchitecture, in the order in which models are listed: P cores, then Atoms, each by age.
std::span<const CoreFacts* const> all();

}  // namespace pmusim::cores

#endif
