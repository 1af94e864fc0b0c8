// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_RDPMC_H
#define PMUSIM_ARCH_RDPMC_H

#include "pmusim/base/types.h"

/// What RDPMC reads, as its ECX says (SDM volume 2B, RDPMC).
namespace pmusim::rdpmc {

/// ECX[31:16].
inline constexpr u32 TYPE_GP = 0x0000, TYPE_METRICS = 0x2000, TYPE_FIXED = 0x4000;

/// ECX for a counter, by its bit in IA32_PERF_GLOBAL_CTRL: fixed counters are those from 32 on.
constexpr u32 ecx_of(unsigned counter) {
  constexpr unsigned first_fixed = 32;
  return counter < first_fixed ? counter : TYPE_FIXED << 16 | (counter - first_fixed);
}

}  // namespace pmusim::rdpmc

#endif
