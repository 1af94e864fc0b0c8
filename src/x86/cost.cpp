// SPDX-License-Identifier: MIT
#include <algorithm>

#include "x86/classes.h"

// Uops and execution classes as public tables give them for Intel cores since Skylake, rounded: an estimate
// that keeps instructions in the right order of cost.
namespace pmusim::x86 {
namespace {

using Kind = FpOperation::Kind;

bool is_moving_data(const Decoded& d) {
  switch (d.category()) {
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_POP:
    case ZYDIS_CATEGORY_STRINGOP:
      return true;
    default:
      return false;
  }
}

bool uses_vector_registers(const Decoded& d) {
  return std::ranges::any_of(d.operands(), [](const ZydisDecodedOperand& o) {
    if (o.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
    const ZydisRegisterClass c = ZydisRegisterGetClass(o.reg.value);
    return c == ZYDIS_REGCLASS_XMM || c == ZYDIS_REGCLASS_YMM || c == ZYDIS_REGCLASS_ZMM ||
           c == ZYDIS_REGCLASS_MMX;
  });
}

bool stalls_the_pipeline(const Decoded& d) {
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_SERIALIZE:
    case ZYDIS_MNEMONIC_LFENCE:
    case ZYDIS_MNEMONIC_MFENCE:
    case ZYDIS_MNEMONIC_WRMSR:
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_INVD:
    case ZYDIS_MNEMONIC_WBINVD:
      return true;
    default:
      return false;
  }
}

ExecutionClass execution_class(const Instruction& i, const Decoded& d, const FpOperation& fp) {
  if (i.branch != BranchKind::none) return ExecutionClass::branch;
  if (is_nop(d)) return ExecutionClass::nop;
  if (stalls_the_pipeline(d)) return ExecutionClass::serializing;
  if (i.rep) return ExecutionClass::microcoded;
  switch (fp.kind) {
    case Kind::add:
      return ExecutionClass::fp_add;
    case Kind::multiply:
      return ExecutionClass::fp_multiply;
    case Kind::divide:
      return ExecutionClass::fp_divide;
    case Kind::none:
      break;
  }
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV:
      return ExecutionClass::divide;
    case ZYDIS_MNEMONIC_MUL:
    case ZYDIS_MNEMONIC_MULX:
    case ZYDIS_MNEMONIC_IMUL:
      return ExecutionClass::multiply;
    default:
      break;
  }
  if (is_moving_data(d) && i.memory_operands == 1) {
    if (!i.memory[0].store) return ExecutionClass::load_only;
    if (!i.memory[0].load) return ExecutionClass::store_only;
  }
  return uses_vector_registers(d) ? ExecutionClass::vector : ExecutionClass::simple;
}

unsigned uops_of_branch(const Instruction& i) {
  switch (i.branch) {
    case BranchKind::direct_call:
      return 2;
    case BranchKind::indirect_call:
      return 3;
    case BranchKind::near_return:
      return 2;
    case BranchKind::conditional:
    case BranchKind::direct_jump:
    case BranchKind::indirect_jump:
      return 1;
    default:
      return 30;  // through microcode
  }
}

unsigned uops_of_vector_index(const Decoded& d) { return 4 + d.instruction.avx.vector_length / 32; }

unsigned uops_of(const Instruction& i, const Decoded& d) {
  if (i.branch != BranchKind::none) {
    const bool counts_down = d.mnemonic() == ZYDIS_MNEMONIC_LOOP || d.mnemonic() == ZYDIS_MNEMONIC_LOOPE ||
                             d.mnemonic() == ZYDIS_MNEMONIC_LOOPNE;
    return counts_down ? 7 : uops_of_branch(i);
  }
  if (i.rep) return 20;
  if (i.memory_operands != 0 && i.memory[0].vector_index) return uops_of_vector_index(d);
  if (i.locked) return 8;
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_CPUID:
      return 100;
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
      return 20;
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV:
      return 4;
    case ZYDIS_MNEMONIC_MUL:
      return 2;
    case ZYDIS_MNEMONIC_ENTER:
      return 12;
    case ZYDIS_MNEMONIC_LEAVE:
    case ZYDIS_MNEMONIC_XCHG:
    case ZYDIS_MNEMONIC_XLAT:
      return 3;
    case ZYDIS_MNEMONIC_CMPXCHG:
      return 5;
    case ZYDIS_MNEMONIC_XGETBV:
      return 8;
    default:
      break;
  }
  if (d.category() == ZYDIS_CATEGORY_XSAVE || d.category() == ZYDIS_CATEGORY_XSAVEOPT) return 60;
  // A load or a store fuses with the operation beside it; a second access, or both in one, does not.
  const bool read_modify_write = i.memory_operands == 1 && i.memory[0].load && i.memory[0].store;
  return i.memory_operands == 2 || read_modify_write ? 2 : 1;
}

}  // namespace

void add_cost(Instruction& instruction, const Decoded& decoded, const FpOperation& fp) {
  instruction.execution = execution_class(instruction, decoded, fp);
  const unsigned uops = uops_of(instruction, decoded);
  instruction.uops = static_cast<u8>(uops);
  if (uops > 4) {
    instruction.signals.add(Signal::microcoded);
    if (instruction.execution == ExecutionClass::simple) instruction.execution = ExecutionClass::microcoded;
  }
}

}  // namespace pmusim::x86
