// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_BRANCH_H
#define PMUSIM_ARCH_BRANCH_H

#include <string_view>

#include "pmusim/base/types.h"

namespace pmusim {

/// What kind of control transfer an instruction (or event) is. The near kinds are those that LBR_SELECT and
/// IA32_LBR_CTL filter by; every other kind is a "far" or "other" branch to them (SDM vol. 3, LBR).
enum class BranchKind : u8 {
  none,
  conditional,    ///< Jcc, LOOPcc, JrCXZ
  direct_jump,    ///< near relative JMP
  indirect_jump,  ///< near indirect JMP
  direct_call,    ///< near relative CALL
  indirect_call,  ///< near indirect CALL
  near_return,    ///< near RET
  far_jump,
  far_call,
  far_return,
  syscall,             ///< SYSCALL, SYSENTER
  sysret,              ///< SYSRET, SYSEXIT
  software_interrupt,  ///< INT n, INT3, INTO
  interrupt_return,    ///< IRET
  interrupt,           ///< hardware interrupt or exception: no instruction of its own
  tsx_abort,           ///< from the aborting instruction to the fallback path
};

constexpr bool is_near_branch(BranchKind kind) {
  return kind >= BranchKind::conditional && kind <= BranchKind::near_return;
}
constexpr bool is_near_call(BranchKind kind) {
  return kind == BranchKind::direct_call || kind == BranchKind::indirect_call;
}

/// In words, for people and for machine-readable output: "indirect call".
constexpr std::string_view name_of(BranchKind kind) {
  switch (kind) {
    case BranchKind::none:
      return "none";
    case BranchKind::conditional:
      return "conditional";
    case BranchKind::direct_jump:
      return "direct jump";
    case BranchKind::indirect_jump:
      return "indirect jump";
    case BranchKind::direct_call:
      return "direct call";
    case BranchKind::indirect_call:
      return "indirect call";
    case BranchKind::near_return:
      return "return";
    case BranchKind::far_jump:
      return "far jump";
    case BranchKind::far_call:
      return "far call";
    case BranchKind::far_return:
      return "far return";
    case BranchKind::syscall:
      return "system call";
    case BranchKind::sysret:
      return "system return";
    case BranchKind::software_interrupt:
      return "software interrupt";
    case BranchKind::interrupt_return:
      return "interrupt return";
    case BranchKind::interrupt:
      return "interrupt";
    case BranchKind::tsx_abort:
      return "transaction abort";
  }
  return "none";
}

/// One last-branch record in the form that PEBS records and XSAVE component 15 carry it: 24 bytes.
struct LbrEntry {
  u64 from = 0, to = 0, info = 0;
  friend bool operator==(const LbrEntry&, const LbrEntry&) = default;
};
static_assert(sizeof(LbrEntry) == 24);

/// Bits of an INFO word. Formats 3, 4 and 6 keep the upper three in FROM, at the same places.
namespace lbr_info {
inline constexpr u64 MISPRED = bit(63), IN_TSX = bit(62), TSX_ABORT = bit(61), CYC_CNT_VALID = bit(60);
inline constexpr u64 BR_TYPE = bits(59, 56), BR_CNTR = bits(39, 32), CYC_CNT = bits(15, 0);
}  // namespace lbr_info

/// LBR_SELECT: bits that keep branches out, and one that changes what the stack is.
namespace lbr_select {
inline constexpr u64 CPL_EQ_0 = bit(0), CPL_NEQ_0 = bit(1), JCC = bit(2), NEAR_REL_CALL = bit(3),
                     NEAR_IND_CALL = bit(4), NEAR_RET = bit(5), NEAR_IND_JMP = bit(6), NEAR_REL_JMP = bit(7),
                     FAR_BRANCH = bit(8), EN_CALLSTACK = bit(9);
}  // namespace lbr_select

/// IA32_LBR_CTL: bits that let branches in.
namespace lbr_ctl {
inline constexpr u64 LBREN = bit(0), OS = bit(1), USR = bit(2), CALL_STACK = bit(3), COND = bit(16),
                     NEAR_REL_JMP = bit(17), NEAR_IND_JMP = bit(18), NEAR_REL_CALL = bit(19),
                     NEAR_IND_CALL = bit(20), NEAR_RET = bit(21), OTHER_BRANCH = bit(22);
inline constexpr u64 BRANCH_TYPES = bits(22, 16);
}  // namespace lbr_ctl

/// CPUID.1CH.
namespace lbr_leaf {
inline constexpr u32 EAX_DEPTHS = 0xFF, EAX_DEEP_CSTATE_RESET = 1u << 30, EAX_LIP = 1u << 31;
inline constexpr u32 EBX_CPL_FILTER = 1, EBX_BRANCH_FILTER = 2, EBX_CALL_STACK = 4;
inline constexpr u32 ECX_MISPRED = 1, ECX_TIMED = 2, ECX_BRANCH_TYPE = 4;
/// GP counters that BR_CNTR fields can count, bit n = counter n.
constexpr u32 event_counters(u32 ecx) { return ecx >> 16 & 0xF; }
}  // namespace lbr_leaf

/// XSAVE component 15, IA32_LBR state: byte offsets.
namespace lbr_component {
inline constexpr unsigned NUMBER = 15, CTL = 0, DEPTH = 8, LER = 16, ENTRIES = 40;
constexpr unsigned bytes(unsigned max_depth) { return ENTRIES + max_depth * unsigned{sizeof(LbrEntry)}; }
}  // namespace lbr_component

}  // namespace pmusim

#endif
