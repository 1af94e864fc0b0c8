// SPDX-License-Identifier: MIT
#include <algorithm>

#include "pmusim/base/types.h"
#include "x86/classes.h"

namespace pmusim::x86 {
namespace {

constexpr unsigned first_vector = 16, first_mask = 48, x87_and_mmx = 56, flags = 57;

// The part of a register stands for the whole: AL, AX and EAX are RAX, XMM0 and YMM0 are ZMM0.
RegisterMask mask_of(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return 0;
  const ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  const ZydisRegister whole = full == ZYDIS_REGISTER_NONE ? reg : full;
  const auto number = unsigned{static_cast<u8>(ZydisRegisterGetId(whole))};
  switch (ZydisRegisterGetClass(whole)) {
    case ZYDIS_REGCLASS_GPR64:
      return number < first_vector ? bit(number) : 0;
    case ZYDIS_REGCLASS_ZMM:
      return bit(first_vector + number);
    case ZYDIS_REGCLASS_MASK:
      return bit(first_mask + number);
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX:
      return bit(x87_and_mmx);
    case ZYDIS_REGCLASS_FLAGS:
      return bit(flags);
    default:
      return 0;
  }
}

bool is_stack_engine(const ZydisDecodedOperand& o) {
  return o.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && o.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         o.reg.value == ZYDIS_REGISTER_RSP;
}

bool same_register(const ZydisDecodedOperand& a, const ZydisDecodedOperand& b) {
  return a.type == ZYDIS_OPERAND_TYPE_REGISTER && b.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         a.reg.value == b.reg.value;
}

}  // namespace

// Idioms that the renamer recognises: the result is 0 whatever the register holds.
bool is_zeroing(const Decoded& d) {
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_PXOR:
      return same_register(d.all_operands[0], d.all_operands[1]);
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_VXORPD:
    case ZYDIS_MNEMONIC_VPXOR:
      return same_register(d.all_operands[1], d.all_operands[2]);
    default:
      return false;
  }
}

// A gather's index stands in a vector register: it waits for everything.
RegisterMask address_registers(const Instruction& instruction) {
  RegisterMask registers = 0;
  for (const MemoryOperand& m : instruction.accesses()) {
    if (m.vector_index) registers |= instruction.registers_read;
    if (m.base < 16) registers |= bit(m.base);
    if (m.index < 16) registers |= bit(m.index);
  }
  return registers & instruction.registers_read;
}

namespace {

bool is_high_byte(ZydisRegister reg) { return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH; }

void add_partial_write(Instruction& instruction, const ZydisDecodedOperand& o, RegisterMask mask) {
  if (is_high_byte(o.reg.value))
    instruction.written_high |= mask;
  else if (ZydisRegisterGetClass(o.reg.value) == ZYDIS_REGCLASS_GPR8)
    instruction.written_8 |= mask;
  else if (ZydisRegisterGetClass(o.reg.value) == ZYDIS_REGCLASS_GPR16)
    instruction.written_16 |= mask;
}

StackUse stack_use(const Decoded& d) {
  bool moves = false, uses = false;
  for (const ZydisDecodedOperand& o : d.operands()) {
    const bool names = o.visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    if (o.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      moves |= is_stack_engine(o);
      uses |= names && mask_of(o.reg.value) == bit(static_cast<unsigned>(Gpr::rsp));
    }
    if (o.type == ZYDIS_OPERAND_TYPE_MEMORY)
      uses |= names && (o.mem.base == ZYDIS_REGISTER_RSP || o.mem.base == ZYDIS_REGISTER_ESP);
  }
  if (moves) return uses ? StackUse::uses_and_moves : StackUse::moves;
  return uses ? StackUse::uses : StackUse::none;
}

bool has_constant(const Decoded& d) {
  return std::ranges::any_of(
      d.operands(), [](const ZydisDecodedOperand& o) { return o.type == ZYDIS_OPERAND_TYPE_IMMEDIATE; });
}

bool modifies_first(const Decoded& d) {
  const ZydisDecodedOperand& first = d.all_operands[0];
  return d.instruction.operand_count_visible != 0 && first.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         (first.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0 &&
         (first.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

}  // namespace

void add_registers(Instruction& instruction, const Decoded& d) {
  instruction.stack = stack_use(d);
  instruction.modifies_register = modifies_first(d);
  for (const MemoryOperand& m : instruction.accesses())
    instruction.constant_at_rip |= m.rip_relative && has_constant(d);
  for (const ZydisDecodedOperand& o : d.operands()) {
    if (o.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      const bool hidden_stack =
          o.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && o.mem.base == ZYDIS_REGISTER_RSP;
      if (!hidden_stack) instruction.registers_read |= mask_of(o.mem.base) | mask_of(o.mem.index);
    }
    if (o.type != ZYDIS_OPERAND_TYPE_REGISTER || is_stack_engine(o)) continue;
    const RegisterMask mask = mask_of(o.reg.value);
    if ((o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) instruction.registers_read |= mask;
    // What is written under a condition keeps its old value otherwise.
    if ((o.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0) instruction.registers_read |= mask & ~bit(flags);
    if ((o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) {
      instruction.registers_written |= mask;
      add_partial_write(instruction, o, mask);
    }
  }
  if (is_zeroing(d)) instruction.registers_read = 0;
  instruction.address_registers = address_registers(instruction);
}

}  // namespace pmusim::x86
