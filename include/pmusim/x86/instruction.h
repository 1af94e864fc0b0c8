// SPDX-License-Identifier: MIT
#ifndef PMUSIM_X86_INSTRUCTION_H
#define PMUSIM_X86_INSTRUCTION_H

#include <array>
#include <span>
#include <string>

#include "pmusim/arch/branch.h"
#include "pmusim/base/bus.h"
#include "pmusim/cpu/core_parameters.h"
#include "pmusim/cpu/retirement.h"

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

/// What an instruction does with RSP.
enum class StackUse : u8 {
  none,
  moves,           ///< as push, pop, call and return do, which the stack engine follows
  uses,            ///< names it, as an operand or in an address
  uses_and_moves,  ///< `push 8(%rsp)`
};

/// What an instruction does to a transaction (TSX): SDM vol. 1, 16.3.8.
enum class TransactionRole : u8 {
  none,
  begins,      ///< XBEGIN
  commits,     ///< XEND
  aborts,      ///< XABORT
  unfriendly,  ///< no transaction may contain it: CPUID, PAUSE, far transfers
};

/// A data access that an instruction makes each time it executes, implicit ones (push, call, string)
/// included.
///
/// Two accesses are stated in a simplified form: a gather or scatter is one access of one element at its
/// base, and BTx with a register offset one at the operand without the offset. Both need values that general
/// registers do not hold, or are not worth an operand form of their own.
struct MemoryOperand {
  u16 bytes = 0;
  bool load = false, store = false;  ///< both for read-modify-write
  /// Effective address = segment base + base + index * scale + displacement; register 0xFF = none.
  u8 base = 0xFF, index = 0xFF, scale = 0;  ///< numbers as Gpr
  bool rip_relative = false, fs = false, gs = false;
  bool address_32 = false;    ///< address-size prefix: the sum wraps at 4 GiB
  bool byte_index = false;    ///< XLAT: only the lowest byte of the index counts
  bool vector_index = false;  ///< gather or scatter: one access per element in hardware
  i64 displacement = 0;       ///< a push's includes the step down of RSP
};

/// Registers as dependencies see them: bits 0..15 general registers, 16..47 vector registers, 48..55 mask
/// registers, 56 x87 and MMX, 57 the arithmetic flags.
using RegisterMask = u64;

/// Everything static that the timing model, the event signals and the recorder need of one instruction.
struct Instruction {
  u64 ip = 0;
  u8 length = 0;
  u8 uops = 1;  ///< estimate, in the fused domain (what retirement slots count)
  BranchKind branch = BranchKind::none;
  ExecutionClass execution = ExecutionClass::simple;
  InstructionForm form = InstructionForm::alu;      ///< what it costs, memory operands apart
  FlagWriter flag_writer = FlagWriter::none;        ///< of what may fuse with a branch behind it
  ConditionGroup condition = ConditionGroup::none;  ///< of a conditional branch that may fuse
  bool rep = false;  ///< REP string instruction: one retirement, accesses per iteration
  bool locked = false;
  bool flushes_line = false;  ///< CLFLUSH, CLFLUSHOPT
  /// Has a prefix that shortens its constant, which length decoders notice late (66H before a constant of 4
  /// bytes).
  bool length_changing_prefix = false;
  /// Floating-point operations of SSE and AVX: which Quantity counts them, and how many; masks are not looked
  /// at.
  Quantity flop_kind = Quantity::none;
  u8 flops = 0;
  u8 opcode_offset = 0;  ///< of its last opcode byte: prefixes before it count for nothing to predecoders
  StackUse stack = StackUse::none;
  /// Its first operand is a register that it both reads and writes.
  bool modifies_register = false;
  /// It has a constant and an operand at an address relative to RIP.
  bool constant_at_rip = false;
  TransactionRole transaction = TransactionRole::none;
  u64 target = 0;  ///< of a direct branch, or of an XBEGIN's fallback path
  u8 memory_operands = 0;
  std::array<MemoryOperand, 2> memory{};  ///< no instruction has more (push [m], movs, call [m] have two)
  MemoryOperand flushed_line{};  ///< where `flushes_line`: neither a load nor a store, so not among `memory`
  /// What is true of it whenever it retires: the kind signals, `load` and `store`, the FP class. Not the
  /// outcome: taken and mispredicted branches, cache levels, and an XABORT's abort (it is inert outside a
  /// transaction).
  SignalSet signals;
  /// What it waits for and what waits for it, address registers included. RSP of push, pop, call and return
  /// (the stack engine tracks it) and the sources of a zeroing idiom are left out: nothing waits for them.
  RegisterMask registers_read = 0, registers_written = 0;
  /// Of those written, the ones of which 8 or 16 bits alone change; and those whose second byte (AH) does.
  RegisterMask written_8 = 0, written_16 = 0, written_high = 0;
  RegisterMask address_registers = 0;  ///< of those read, the ones that addresses of its accesses are made of
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

/// The linear address of an access. `before` holds the registers as they are before the instruction executes.
u64 effective_address(const Instruction& instruction, const MemoryOperand& operand, const Registers& before,
                      u64 fs_base, u64 gs_base);

/// The instruction in assembler text, Intel syntax; "(bad)" where the bytes are none.
std::string disassemble(std::span<const std::byte> code, u64 ip);

}  // namespace pmusim::x86

#endif
