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

}  // namespace pmusim

#endif
