// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_INSTRUCTION_COST_H
#define PMUSIM_CPU_INSTRUCTION_COST_H

#include <array>

#include "pmusim/base/bits.h"

/// What instructions cost on a core: data of a `CpuModel`.
namespace pmusim {

/// Instructions that cost the same on every core: mnemonic, width and kind of operands in the words of the
/// measurements that there are. What was not measured has the form of its nearest relative
/// (x86/form.cpp). Memory operands are not part of the form: loads and stores add their own uops.
enum class InstructionForm : u8 {
  alu,
  nop,
  zero_idiom,
  move,
  vector_move,
  adc,
  lea,
  lea_three,   ///< base + index + displacement
  lea_scaled,  ///< base + scaled index + displacement
  fold,        ///< add, sub, inc, dec with an immediate
  shift,
  shift_by_cl,
  rotate,
  double_shift,
  set,
  set_two_flags,  ///< SETA, SETBE: by CF and ZF
  cmov,
  cmov_two_flags,  ///< CMOVA, CMOVBE
  bswap,
  xchg,
  imul_32,
  imul_64,
  mul_wide,
  div_32,
  div_64,
  idiv_64,
  bit_scan,
  popcnt,
  lzcnt,
  tzcnt,
  pdep,
  conditional_branch,
  branch,
  call,
  indirect_call,
  ret,
  far_branch,
  load,
  vector_load,
  store,
  push,
  pop,
  load_fence,
  store_fence,
  memory_fence,
  locked,
  pause,
  rdtsc,
  cpuid,
  serialize,
  rdpid,
  rdrand,
  pushf_popf,
  cmpxchg_16,
  load_mxcsr,
  string,
  repeated_string,
  clflush,
  save_state,
  microcoded,
  x87_add,
  x87_multiply,
  x87_divide,
  x87_transcendental,
  x87_move,
  add_scalar_single,
  add_scalar_double,
  add_single,
  add_double,
  add_256,
  add_512,
  multiply_scalar_single,
  multiply_scalar_double,
  multiply_double,
  multiply_256,
  multiply_512,
  fma_scalar,
  fma_256,
  fma_512,
  divide_scalar_single,
  divide_single,
  divide_scalar_double,
  divide_double,
  divide_256_single,
  divide_256_double,
  square_root_scalar_single,
  square_root_scalar_double,
  square_root_double,
  square_root_256_single,
  square_root_256_double,
  reciprocal,
  compare_flags,  ///< UCOMISD
  compare,
  minimum,
  round,
  convert_from_integer,
  convert_to_integer,
  convert_packed,
  convert_to_double,
  convert_to_single,
  move_to_vector,
  move_from_vector,
  logic,
  vector_add,
  vector_add_256,
  vector_add_512,
  vector_shift,
  multiply_low_32,  ///< PMULLD
  multiply_low_16,
  multiply_add_16,
  multiply_wide_32,
  sum_differences,
  shuffle_bytes,
  shuffle,
  unpack,
  blend_variable,
  horizontal_add,
  dot_product,
  permute_lanes,
  permute_words,
  insert_lane,
  extract_lane,
  mask_bytes,  ///< PMOVMSKB
  vector_test,
  aes_encode,
  aes_decode,
  carryless_multiply,
  sha,
  gather_single_256,
  gather_128,
  gather_256,
  gather_quad_256,
  zero_upper,  ///< VZEROUPPER
  zero_all,    ///< VZEROALL
  count_
};

inline constexpr unsigned instruction_forms = static_cast<unsigned>(InstructionForm::count_);

/// Execution ports, one bit each. Bits 30 and 31 are no ports: the divider and the microcode sequencer, which
/// an instruction has to itself for several cycles in a row.
using PortMask = u32;
inline constexpr unsigned execution_ports = 32, divider_port = 30, sequencer_port = 31;

/// `uops` uops, each on one of `ports` for one cycle; or one uop that keeps the unit for `cycles`.
struct PortUse {
  PortMask ports = 0;
  u8 uops = 0;
  u16 cycles = 1;
};

/// What one form costs, without its memory operands.
struct InstructionCost {
  u16 latency_cycles = 1;         ///< from its operands to its result
  u8 uops = 1;                    ///< slots, in the fused domain
  u8 early_cycles = 0;            ///< that what it reads beside its destination is needed before that
  std::array<PortUse, 2> uses{};  ///< unused ones have no ports
};

/// The costs of a core, and the ports of its loads and stores.
struct InstructionCosts {
  std::array<InstructionCost, instruction_forms> by_form{};
  PortMask load_ports = 0, store_address_ports = 0, store_data_ports = 0;
  /// Uops in the fused domain of an instruction that loads, computes and stores.
  u8 read_modify_write_uops = 2;

  const InstructionCost& of(InstructionForm form) const { return by_form[static_cast<unsigned>(form)]; }
};

/// Those of Skylake, for models that say nothing of them.
const InstructionCosts& default_instruction_costs();

/// What the first instruction of a pair does to the flags; which of them a core fuses with a conditional
/// branch is its `MacroFusion`.
enum class FlagWriter : u8 { none, test, bitwise_and, compare, add_subtract, increment };

/// The conditions of a branch that fuse alike.
enum class ConditionGroup : u8 { none, overflow_sign_parity, carry, below_or_equal, equal, signed_order };

/// Which pairs of a flag-setting instruction and a conditional branch become one uop.
enum class MacroFusion : u8 {
  none,
  nehalem,       ///< CMP and TEST
  sandy_bridge,  ///< also AND, ADD, SUB, INC and DEC
  ice_lake,      ///< no INC and DEC, and no first instruction with a memory operand
};

/// Whether a core fuses such a pair of neighbours.
constexpr bool fuses(MacroFusion fusion, FlagWriter first, ConditionGroup condition) {
  const bool since_sandy_bridge = fusion >= MacroFusion::sandy_bridge;
  if (fusion == MacroFusion::none || condition == ConditionGroup::none) return false;
  switch (first) {
    case FlagWriter::none:
      return false;
    case FlagWriter::test:
      return true;
    case FlagWriter::bitwise_and:
      return since_sandy_bridge;
    case FlagWriter::compare:
      return condition != ConditionGroup::overflow_sign_parity;
    case FlagWriter::add_subtract:
      return since_sandy_bridge && condition != ConditionGroup::overflow_sign_parity;
    case FlagWriter::increment:
      return fusion == MacroFusion::sandy_bridge &&
             (condition == ConditionGroup::equal || condition == ConditionGroup::signed_order);
  }
  return false;
}

}  // namespace pmusim

#endif
