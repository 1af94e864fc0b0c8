// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_TRACE_RINGS_H
#define PMUSIM_SRC_TRACE_RINGS_H

#include "base/kernel_address.h"
#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// The ring of what follows an execution of a block, of a trace with ring 0: which the branch says, and of
/// returns out of ring 0 the address (SDM vol. 3, 5.8; IRET, RET far).
inline Cpl ring_behind(const Block& block, u64 next_ip) {
  switch (block.instructions.back().branch) {
    case BranchKind::syscall:
    case BranchKind::software_interrupt:
      return Cpl::kernel;
    case BranchKind::sysret:
      return Cpl::user;
    case BranchKind::interrupt_return:
    case BranchKind::far_return:
      return block.ring == Cpl::kernel && is_kernel_address(next_ip) ? Cpl::kernel : Cpl::user;
    default:
      return block.ring;
  }
}

}  // namespace pmusim::trace

#endif
