// SPDX-License-Identifier: MIT
#ifndef PMUSIM_XSAVE_CET_H
#define PMUSIM_XSAVE_CET_H

#include "pmusim/base/types.h"

/// Control-flow enforcement registers (SDM vol. 1, ch. 17, and vol. 4).
namespace pmusim::cet {

/// IA32_U_CET and IA32_S_CET.
namespace control {
inline constexpr u64 SH_STK_EN = bit(0), WR_SHSTK_EN = bit(1), ENDBR_EN = bit(2), LEG_IW_EN = bit(3),
                     NO_TRACK_EN = bit(4), SUPPRESS_DIS = bit(5), SUPPRESS = bit(10), TRACKER = bit(11),
                     BITMAP_BASE = bits(63, 12);
inline constexpr u64 ALL = bits(5, 0) | SUPPRESS | TRACKER | BITMAP_BASE;
}  // namespace control

/// No reserved bit, a canonical bitmap, and not both states of the indirect-branch tracker.
constexpr bool is_legal_control(u64 value) {
  constexpr u64 both = control::SUPPRESS | control::TRACKER;
  return (value & ~control::ALL) == 0 && is_canonical(value & control::BITMAP_BASE) && (value & both) != both;
}

/// A shadow-stack pointer: canonical and 4-byte aligned.
constexpr bool is_legal_stack(u64 value) { return is_canonical(value) && value % 4 == 0; }

}  // namespace pmusim::cet

#endif
