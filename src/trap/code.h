// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_TRAP_CODE_H
#define PMUSIM_SRC_TRAP_CODE_H

#include "pmusim/x86/instruction.h"

/// Instructions of this process that are not the machine's to execute.
namespace pmusim::trap {

enum class Special : u8 {
  none,
  // these fault outside of ring 0
  rdmsr,
  wrmsr,
  rdpmc,
  xsaves,
  xrstors,
  xsetbv,
  cli,
  sti,
  // these do not, or not always
  cpuid,
  xgetbv,
  rdtsc,
  rdtscp,
  pushf,
  popf,
  // these are those of TSX, which not every machine has
  xbegin,
  xabort,
  xtest,
  xend,
  // these are the machine's, and a single step over them is two
  syscall,
  load_stack_segment,
};

/// Faults unless it is executed at ring 0.
constexpr bool is_privileged(Special special) { return special >= Special::rdmsr && special <= Special::sti; }
/// Raises #GP where another thread has it do so, and is the emulated processor's then. XEND does outside of a
/// transaction.
constexpr bool may_fault(Special special) {
  return is_privileged(special) || special == Special::cpuid || special == Special::xend;
}
/// Of TSX: #UD where the machine does not have it.
constexpr bool is_transactional(Special special) {
  return special >= Special::xbegin && special <= Special::xend;
}
/// Executes without a fault, and is the emulated processor's all the same while it is stepped.
constexpr bool is_quiet(Special special) { return special >= Special::cpuid && special <= Special::xtest; }

struct Code {
  x86::Instruction instruction;
  Special special = Special::none;
};

/// The instruction at an address of this process. Length 0 where there is none.
Code code_at(u64 ip);

}  // namespace pmusim::trap

#endif
