// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ARCH_MISC_ENABLE_H
#define PMUSIM_SRC_ARCH_MISC_ENABLE_H

#include "pmusim/base/types.h"

/// IA32_MISC_ENABLE (SDM vol. 4): what it says of the part, which software cannot change.
namespace pmusim::msr::misc_enable {

inline constexpr u64 PERFMON_AVAILABLE = bit(7);
inline constexpr u64 BTS_UNAVAILABLE = bit(11);
inline constexpr u64 PEBS_UNAVAILABLE = bit(12);

}  // namespace pmusim::msr::misc_enable

#endif
