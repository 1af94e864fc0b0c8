// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_AMD_MSR_H
#define PMUSIM_ARCH_AMD_MSR_H

#include "pmusim/base/bits.h"

/// Registers of AMD's core PMU and of its branch records, by their addresses, with their bits (AMD64
/// Architecture Programmer's Manual vol. 2, 13.2 and appendix A). Those that both vendors have, with the same
/// bits, are in arch/msr.h: DEBUGCTL with its bits 11 and 12, bits 58 and 59 of the global status.
namespace pmusim::msr::amd {

inline constexpr u32 EFER = 0xC0000080;
inline constexpr u32 LBR_SELECT = 0xC000010E;      ///< bits as lbr_select has them, without call-stack mode
inline constexpr u32 DEBUG_EXTN_CTL = 0xC000010F;  ///< where the LBR stack is enabled
inline constexpr u32 GLOBAL_STATUS = 0xC0000300, GLOBAL_CTL = 0xC0000301;
inline constexpr u32 GLOBAL_STATUS_CLR = 0xC0000302, GLOBAL_STATUS_SET = 0xC0000303;
/// Four of them, one beside the other; the same registers as the first of those below.
inline constexpr u32 LEGACY_CTL0 = 0xC0010000, LEGACY_CTR0 = 0xC0010004;
/// As many as there are counters; counter n is at CTR0 + 2n.
inline constexpr u32 CTL0 = 0xC0010200, CTR0 = 0xC0010201;
/// Record i, 0 the newest, is at LBR_FROM0 + 2i.
inline constexpr u32 LBR_FROM0 = 0xC0010300, LBR_TO0 = 0xC0010301;
/// Between one counter, or record, and the next.
inline constexpr u16 STRIDE = 2;
inline constexpr u16 LEGACY_COUNTERS = 4;

/// PERF_CTLn. What it shares with Intel's event select stands where that has it (msr::evtsel): umask, USR,
/// OS, EDGE, INT, EN, INV, CMASK.
namespace ctl {
inline constexpr u64 EVENT_LOW = bits(7, 0);
inline constexpr u64 EVENT_HIGH = bits(35, 32);  ///< bits 11:8 of the event's number
inline constexpr u64 GUEST_ONLY = bit(40), HOST_ONLY = bit(41);
inline constexpr u64 PREC_RET = bit(43);  ///< of PERF_CTL2
/// The number of the event that an event select names.
constexpr u16 event(u64 select) { return static_cast<u16>(field(select, 7, 0) | field(select, 35, 32) << 8); }
}  // namespace ctl

namespace efer {
inline constexpr u64 SVME = bit(12);
}

namespace debug_extn {
inline constexpr u64 LBRSE = bit(6);  ///< records branches
}

/// The same register on Zen 3's servers, which have branch sampling (as Linux has it; no manual does).
namespace brs {
inline constexpr u64 ENABLE = bit(2), ONES = bits(4, 3), VALID = bit(5), OFFSET = bits(19, 16),
                     COUNTER = bits(26, 24);
}

/// Records of the LBR stack.
namespace lbr {
inline constexpr u64 FROM_MISPREDICTED = bit(63);
inline constexpr u64 TO_VALID = bit(63), TO_SPECULATIVE = bit(62);
inline constexpr u64 ADDRESS = bits(57, 0);
}  // namespace lbr

}  // namespace pmusim::msr::amd

#endif
