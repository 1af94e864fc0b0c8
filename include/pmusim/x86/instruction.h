#ifndef PMUSIM_X86_INSTRUCTION_H
#define PMUSIM_X86_INSTRUCTION_H

#include <array>
#include <span>

#include "pmusim/arch/branch.h"
#include "pmusim/base/bus.h"
#include "pmusim/cpu/signals.h"

namespace pmusim::x86 {

/// Execution class: what latency and which ports an instruction needs.
enum class ExecutionClass : u8 {
  simple,
  multiply,
  divide,
  fp_add,
  fp_multiply,
  fp_divide,
  vector,
  load_only,
  store_only,
  branch,
  nop,
  serializing,
  microcoded,
};

/// A data access that an instruction makes each time it executes, implicit ones (push, call, string)
/// included.
struct MemoryOperand {
  u16 bytes = 0;
  bool load = false, store = false;  ///< both for read-modify-write
  /// Effective address = segment base + base + index * scale + displacement; register 0xFF = none.
  u8 base = 0xFF, index = 0xFF, scale = 0;  ///< numbers as Gpr
  bool rip_relative = false, fs = false, gs = false;
  i64 displacement = 0;
};

/// Registers as dependencies see them: bits 0..15 general registers, 16..47 vector registers, 48..55 mask
/// registers, 56 the x87 stack, 57 the arithmetic flags.
using RegisterMask = u64;
inline constexpr unsigned flags_register = 57;

/// Everything static that the timing model, the event signals and the recorder need of one instruction.
struct Instruction {
  u64 ip = 0;
  u8 length = 0;
  u8 uops = 1;  ///< estimate
  BranchKind branch = BranchKind::none;
  ExecutionClass execution = ExecutionClass::simple;
  bool rep = false;  ///< REP string instruction: one retirement, accesses per iteration
  bool locked = false;
  u64 target = 0;  ///< of a direct branch
  u8 memory_operands = 0;
  std::array<MemoryOperand, 2> memory{};
  SignalSet signals;  ///< what is true of it whenever it retires
  /// What it waits for and what waits for it. Empty where nothing depends on it: RSP of push, pop, call and
  /// return (the stack engine tracks it) and the sources of a zeroing idiom are left out.
  RegisterMask registers_read = 0, registers_written = 0;
  std::span<const MemoryOperand> accesses() const { return {memory.data(), memory_operands}; }
  u64 end() const { return ip + length; }
};

/// What kind of branch the bytes at an address are; used where only the class matters (LBR filter).
struct BranchClass {
  BranchKind kind = BranchKind::none;
  u8 length = 0;  ///< 0: not decodable
  bool zero_length_call = false;
};

/// Decodes 64-bit code. Length 0 where the bytes are no instruction.
Instruction decode(std::span<const std::byte> code, u64 ip);
BranchClass classify_branch(std::span<const std::byte> code, u64 ip);

}  // namespace pmusim::x86

#endif
