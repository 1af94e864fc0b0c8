// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_TRAP_CONTEXT_H
#define PMUSIM_SRC_TRAP_CONTEXT_H

#include <ucontext.h>

#include "pmusim/base/bus.h"
#include "pmusim/base/types.h"

/// The registers of interrupted code, as a signal's handler finds and leaves them.
namespace pmusim::trap {

namespace flags {
inline constexpr u64 ZERO = bit(6);
/// CF, PF, AF, ZF, SF, OF.
inline constexpr u64 ARITHMETIC = bit(0) | bit(2) | bit(4) | ZERO | bit(7) | bit(11);
inline constexpr u64 TRAP = bit(8), INTERRUPT = bit(9), DIRECTION = bit(10), NESTED_TASK = bit(14);
/// What POPF changes at any ring: CF, PF, AF, ZF, SF, DF, OF, NT, AC, ID.
inline constexpr u64 POPPED =
    bit(0) | bit(2) | bit(4) | bit(6) | bit(7) | DIRECTION | bit(11) | NESTED_TASK | bit(18) | bit(21);
}  // namespace flags

/// Where the kernel keeps a register, in the order of Gpr.
inline constexpr std::array<int, 16> context_index{REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                                   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                   REG_R12, REG_R13, REG_R14, REG_R15};

inline Registers registers_of(const ucontext_t& context) {
  const auto& saved = context.uc_mcontext.gregs;
  Registers registers;
  for (std::size_t n = 0; n < context_index.size(); ++n)
    registers.gpr[n] = static_cast<u64>(saved[context_index[n]]);
  registers.rip = static_cast<u64>(saved[REG_RIP]);
  registers.rflags = static_cast<u64>(saved[REG_EFL]);
  return registers;
}

inline void set_registers(ucontext_t& context, const Registers& registers) {
  auto& saved = context.uc_mcontext.gregs;
  for (std::size_t n = 0; n < context_index.size(); ++n)
    saved[context_index[n]] = static_cast<greg_t>(registers.gpr[n]);
  saved[REG_RIP] = static_cast<greg_t>(registers.rip);
  saved[REG_EFL] = static_cast<greg_t>(registers.rflags);
}

}  // namespace pmusim::trap

#endif
