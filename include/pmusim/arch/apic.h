// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_APIC_H
#define PMUSIM_ARCH_APIC_H

#include "pmusim/base/bits.h"

/// What a PMI needs of the local APIC beside its LVTPC (SDM vol. 3, advanced programmable interrupt
/// controller).
namespace pmusim::msr {

inline constexpr u32 APIC_BASE = 0x1B;
inline constexpr u32 X2APIC_EOI = 0x80B;
/// AMD: four further entries, which IBS and others are given by firmware (APM vol. 2, 16.4).
inline constexpr u32 X2APIC_EXTENDED_LVT0 = 0x850;
inline constexpr unsigned EXTENDED_LVTS = 4;

// IA32_APIC_BASE: the mode of the local APIC, and where its page is.
namespace apic_base {
inline constexpr u64 BSP = bit(8), X2APIC = bit(10), ENABLE = bit(11);
inline constexpr u64 PAGE = bits(51, 12), DEFAULT_PAGE = 0xFEE00000;
}  // namespace apic_base

/// Where that page has registers.
namespace xapic {
inline constexpr u64 EOI = 0xB0, LVTPC = 0x340, EXTENDED_LVT0 = 0x500, STRIDE = 0x10;
}

}  // namespace pmusim::msr

#endif
