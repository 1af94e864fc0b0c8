// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_BLOCK_H
#define PMUSIM_TRACE_BLOCK_H

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pmusim/base/extended_state.h"
#include "pmusim/x86/instruction.h"

/// What a trace holds of the code that ran.
namespace pmusim::trace {

/// What a trace knows beside control flow.
struct Contents {
  bool addresses = false;  ///< an address for every data access
  bool registers = false;  ///< general registers after every instruction
  bool extended = false;   ///< what instructions do to vector, mask, x87 and other extended registers
  /// The program's code was not known: bytes stand for it that branch, load and store as it did. What else
  /// the instructions did (and how wide their accesses were) is unknown.
  bool stand_in_code = false;
  /// How long everything took, by the clock of a real CPU: what replaces the core model's time.
  bool timing = false;
  friend bool operator==(const Contents&, const Contents&) = default;
};

/// The most instructions in one block; longer straight lines are several blocks.
inline constexpr std::size_t max_block_instructions = 256;

/// A straight line of code that was executed as a whole: every instruction but the last falls through.
struct Block {
  u32 id = 0;  ///< dense, unique in the trace; the same address with other bytes is another block
  std::vector<x86::Instruction> instructions;
  std::vector<std::byte> code;  ///< of all instructions
  u32 operands = 0;             ///< memory operands of all instructions
  u32 reps = 0;                 ///< REP string instructions
  u64 start() const { return instructions.front().ip; }
  u64 end() const { return instructions.back().end(); }
  std::span<const std::byte> code_of(const x86::Instruction& i) const {
    return std::span(code).subspan(static_cast<std::size_t>(i.ip - start()), i.length);
  }
};

/// What one instruction of a block did to the extended registers.
struct InstructionChange {
  u32 instruction = 0;  ///< number within the block
  ExtendedChange change;
};

/// One execution of a block, in order. Spans are valid until the next call of `Reader::next()`.
struct BlockRun {
  const Block* block = nullptr;
  /// Where execution went on in this thread: tells whether the block's last branch was taken, and whereto.
  u64 next_ip = 0;
  /// One address per memory operand of each instruction in order (a REP instruction has its first
  /// iteration's); empty if the trace has no addresses.
  std::span<const u64> addresses;
  /// Iterations of each REP instruction in the block, in order.
  std::span<const u32> rep_counts;
  /// Register state after each instruction, one per instruction; empty if the trace has none.
  std::span<const Registers> registers;
  /// Extended registers of the thread before the first instruction; null if the trace has none.
  const ExtendedState* extended = nullptr;
  /// What instructions changed of them, in order; an instruction that changed nothing is not there.
  std::span<const InstructionChange> extended_changes;
  /// Core cycles from the retirement before the block to that of its last instruction; nothing if the trace
  /// has no timing.
  std::optional<u32> cycles;
};

/// How much one kind of data takes in a trace.
struct StreamSize {
  std::string_view name;
  u64 raw_bytes = 0;     ///< before compression
  u64 stored_bytes = 0;  ///< in the file
};

}  // namespace pmusim::trace

#endif
