// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_CORES_H
#define PMUSIM_SRC_CPU_CORES_CORES_H

#include <span>

#include "cpu/core_facts.h"

/// One file for each microarchitecture: what is true of it, and its products. The list of them is in
/// cores.cpp.
namespace pmusim::cores {

// clang-format off
namespace architectural { extern const CoreFacts facts; }
namespace core2 { extern const CoreFacts facts; }
namespace nehalem { extern const CoreFacts facts; }
namespace westmere { extern const CoreFacts facts; }
namespace sandy_bridge { extern const CoreFacts facts; }
namespace ivy_bridge { extern const CoreFacts facts; }
namespace haswell { extern const CoreFacts facts; }
namespace broadwell { extern const CoreFacts facts; }
namespace skylake { extern const CoreFacts facts; }
namespace skylake_x { extern const CoreFacts facts; }
namespace ice_lake { extern const CoreFacts facts; }
namespace golden_cove { extern const CoreFacts facts; }
namespace redwood_cove { extern const CoreFacts facts; }
namespace lion_cove { extern const CoreFacts facts; }
namespace cougar_cove { extern const CoreFacts facts; }
namespace panther_cove { extern const CoreFacts facts; }
namespace coyote_cove { extern const CoreFacts facts; }

namespace bonnell { extern const CoreFacts facts; }
namespace silvermont { extern const CoreFacts facts; }
namespace knights_landing { extern const CoreFacts facts; }
namespace goldmont { extern const CoreFacts facts; }
namespace goldmont_plus { extern const CoreFacts facts; }
namespace tremont { extern const CoreFacts facts; }
namespace gracemont { extern const CoreFacts facts; }
namespace crestmont { extern const CoreFacts facts; }
namespace skymont { extern const CoreFacts facts; }
namespace darkmont { extern const CoreFacts facts; }
namespace arctic_wolf { extern const CoreFacts facts; }

namespace zen1 { extern const CoreFacts facts; }
namespace zen2 { extern const CoreFacts facts; }
namespace zen3 { extern const CoreFacts facts; }
namespace zen4 { extern const CoreFacts facts; }
namespace zen5 { extern const CoreFacts facts; }
// clang-format on

/// Every microarchitecture, in the order in which models are listed: P cores, then Atoms, each by age.
std::span<const CoreFacts* const> all();

}  // namespace pmusim::cores

#endif
