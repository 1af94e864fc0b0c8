// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_CORES_CORES_H
#define PMUSIM_SRC_DRIVER_INTEL_CORES_CORES_H

#include <span>

#include "driver/intel/cores/core_traits.h"

/// One file for each microarchitecture: what the driver takes it for. The list of them is in cores.cpp.
namespace pmusim::driver::cores {

// clang-format off
namespace architectural { extern const CoreTraits traits; }
namespace core2 { extern const CoreTraits traits; }
namespace nehalem { extern const CoreTraits traits; }
namespace westmere { extern const CoreTraits traits; }
namespace sandy_bridge { extern const CoreTraits traits; }
namespace ivy_bridge { extern const CoreTraits traits; }
namespace haswell { extern const CoreTraits traits; }
namespace broadwell { extern const CoreTraits traits; }
namespace skylake { extern const CoreTraits traits; }
namespace skylake_x { extern const CoreTraits traits; }
namespace ice_lake { extern const CoreTraits traits; }
namespace golden_cove { extern const CoreTraits traits; }
namespace redwood_cove { extern const CoreTraits traits; }
namespace lion_cove { extern const CoreTraits traits; }
namespace cougar_cove { extern const CoreTraits traits; }
namespace panther_cove { extern const CoreTraits traits; }
namespace coyote_cove { extern const CoreTraits traits; }
namespace bonnell { extern const CoreTraits traits; }
namespace silvermont { extern const CoreTraits traits; }
namespace knights_landing { extern const CoreTraits traits; }
namespace goldmont { extern const CoreTraits traits; }
namespace goldmont_plus { extern const CoreTraits traits; }
namespace tremont { extern const CoreTraits traits; }
namespace gracemont { extern const CoreTraits traits; }
namespace crestmont { extern const CoreTraits traits; }
namespace skymont { extern const CoreTraits traits; }
namespace darkmont { extern const CoreTraits traits; }
namespace arctic_wolf { extern const CoreTraits traits; }
// clang-format on

std::span<const CoreTraits* const> all();

}  // namespace pmusim::driver::cores

#endif
