// SPDX-License-Identifier: MIT
#ifndef PMUSIM_X86_CLASSES_H
#define PMUSIM_X86_CLASSES_H

#include "pmusim/x86/instruction.h"
#include "x86/decoded.h"

namespace pmusim::x86 {

BranchKind branch_kind(const Decoded& decoded);

/// One signal for each width of vectors.
struct WidthSignals {
  Signal of_128, of_256, of_512;
  /// `bits`: of the vector; a scalar has the shortest.
  constexpr Signal of(unsigned bits) const { return bits == 512 ? of_512 : bits == 256 ? of_256 : of_128; }
};

/// Floating-point work as the FP_ARITH_INST_RETIRED events sort it: by width and element type.
struct FpOperation {
  enum class Kind : u8 { none, add, multiply, divide };
  Kind kind = Kind::none;
  SignalSet signals;
};
FpOperation fp_operation(const Decoded& decoded);

/// Adds floating-point operations as AMD's event 003 counts them: of single and double precision, each lane,
/// and a fused multiply-add twice.
void add_flops(Instruction& instruction, const Decoded& decoded, const FpOperation& fp);

/// Integer work in vector registers as the SIMD_INT, SIMD_UOP_TYPE_EXEC and INT_VEC_RETIRED events sort it:
/// by width and kind. Empty for all else.
SignalSet vector_integer_signals(const Decoded& decoded);

bool is_nop(const Decoded& decoded);
bool is_prefetch(const Decoded& decoded);
/// Which cache a software prefetch asks for, as SW_PREFETCH_ACCESS sorts them.
SignalSet prefetch_signals(const Decoded& decoded);
bool is_rep_string(const Decoded& decoded);
bool is_locked(const Decoded& decoded);

/// Adds the data accesses to `instruction`.
void add_memory_operands(Instruction& instruction, const Decoded& decoded);

/// Adds the registers that dependencies go through.
void add_registers(Instruction& instruction, const Decoded& decoded);

/// Execution class and uop estimate; reads the members that the other functions have filled in.
void add_cost(Instruction& instruction, const Decoded& decoded, const FpOperation& fp);

/// The form that costs are known of, and what fuses with a branch; after `add_cost`.
void add_form(Instruction& instruction, const Decoded& decoded, const FpOperation& fp);

/// Whether the result is 0 whatever the registers hold, as the renamer sees.
bool is_zeroing(const Decoded& decoded);

}  // namespace pmusim::x86

#endif
