// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_KERNEL_ADDRESS_H
#define PMUSIM_BASE_KERNEL_ADDRESS_H

#include "pmusim/base/bus.h"

namespace pmusim {

/// Kernels of 64 bits have the upper half of the address space, programs the lower.
constexpr bool is_kernel_address(u64 address) { return (address & bit(63)) != 0; }
/// At which ring code there runs, as drivers tell it by the address alone.
constexpr Cpl ring_at(u64 address) { return is_kernel_address(address) ? Cpl::kernel : Cpl::user; }

}  // namespace pmusim

#endif
