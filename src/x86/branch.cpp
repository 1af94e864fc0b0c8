// SPDX-License-Identifier: MIT
#include "x86/classes.h"

namespace pmusim::x86 {
namespace {

bool is_far(const Decoded& d) { return d.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR; }

bool is_indirect(const Decoded& d) { return d.all_operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE; }

}  // namespace

BranchKind branch_kind(const Decoded& d) {
  switch (d.mnemonic()) {
    // Zydis files the transaction instructions under branches. They transfer control only when a transaction
    // aborts, and that is no branch instruction.
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_XABORT:
      return BranchKind::none;
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
      return BranchKind::interrupt_return;
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
      return BranchKind::syscall;
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
      return BranchKind::sysret;
    default:
      break;
  }
  switch (d.category()) {
    case ZYDIS_CATEGORY_COND_BR:
      return BranchKind::conditional;
    case ZYDIS_CATEGORY_UNCOND_BR:
      if (is_far(d)) return BranchKind::far_jump;
      return is_indirect(d) ? BranchKind::indirect_jump : BranchKind::direct_jump;
    case ZYDIS_CATEGORY_CALL:
      if (is_far(d)) return BranchKind::far_call;
      return is_indirect(d) ? BranchKind::indirect_call : BranchKind::direct_call;
    case ZYDIS_CATEGORY_RET:
      return is_far(d) ? BranchKind::far_return : BranchKind::near_return;
    case ZYDIS_CATEGORY_INTERRUPT:
      return BranchKind::software_interrupt;
    default:
      return BranchKind::none;
  }
}

BranchClass classify_branch(std::span<const std::byte> code, u64 ip) {
  (void)ip;  // the class does not depend on where the bytes are
  const auto decoded = zydis_decode(code);
  if (!decoded) return {};
  BranchClass result;
  result.kind = branch_kind(*decoded);
  result.length = decoded->instruction.length;
  result.zero_length_call =
      result.kind == BranchKind::direct_call && decoded->all_operands[0].imm.value.s == 0;
  return result;
}

}  // namespace pmusim::x86
