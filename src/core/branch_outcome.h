// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_BRANCH_OUTCOME_H
#define PMUSIM_SRC_CORE_BRANCH_OUTCOME_H

#include "pmusim/arch/branch.h"
#include "pmusim/base/bus.h"

namespace pmusim {

/// Transfers that a trace of user mode sees one side of.
constexpr bool enters_the_kernel(BranchKind branch) {
  return branch == BranchKind::syscall || branch == BranchKind::software_interrupt;
}

/// Whether a block's last instruction was a branch that is taken: execution went on at `next_ip`, `target`
/// and `end` are where a direct one goes to and where the instruction ends. A trace of user mode sees the
/// other side of a far transfer to the kernel only as the next instruction.
constexpr bool is_taken(BranchKind branch, u64 target, u64 end, u64 next_ip) {
  switch (branch) {
    case BranchKind::none:
    case BranchKind::syscall:
    case BranchKind::sysret:
    case BranchKind::software_interrupt:
    case BranchKind::interrupt:
    case BranchKind::tsx_abort:
      return false;
    case BranchKind::conditional:
      return next_ip == target && next_ip != end;
    default:
      return true;
  }
}

/// Whether it is a transfer whose other side is seen all the same, as the trace has ring 0.
constexpr bool is_seen_transfer(BranchKind branch, Cpl ring, Cpl next_ring) {
  return (ring == Cpl::kernel || next_ring == Cpl::kernel) &&
         (enters_the_kernel(branch) || branch == BranchKind::sysret);
}

}  // namespace pmusim

#endif
