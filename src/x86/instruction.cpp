// SPDX-License-Identifier: MIT
#include "pmusim/x86/instruction.h"

#include <string_view>

#include "pmusim/cpu/retirement.h"
#include "x86/classes.h"

namespace pmusim::x86 {
namespace {

// What SDM vol. 3 (8.3) lists as serializing, as far as it is not a branch.
bool is_serializing(const Decoded& d, BranchKind branch) {
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_SERIALIZE:
    case ZYDIS_MNEMONIC_WRMSR:
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_INVD:
    case ZYDIS_MNEMONIC_WBINVD:
      return true;
    default:
      return branch == BranchKind::interrupt_return;
  }
}

u64 relative_target(const Instruction& instruction, const Decoded& d) {
  const ZydisDecodedOperand& o = d.all_operands[0];
  const bool relative = d.instruction.operand_count != 0 && o.type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                        o.imm.is_relative != ZYAN_FALSE;
  return relative ? instruction.end() + static_cast<u64>(o.imm.value.s) : 0;
}

SignalSet static_signals(const Instruction& i, const Decoded& d) {
  SignalSet signals = branch_signals(i.branch);
  signals.add(Signal::instruction);
  for (const MemoryOperand& m : i.accesses()) {
    if (m.load) signals.add(Signal::load);
    if (m.store) signals.add(Signal::store);
  }
  if (is_nop(d)) signals.add(Signal::nop);
  if (is_prefetch(d)) signals.add(Signal::prefetch);
  signals = signals | prefetch_signals(d) | vector_integer_signals(d);
  if (d.mnemonic() == ZYDIS_MNEMONIC_PAUSE) signals.add(Signal::pause);
  if (i.locked) signals.add(Signal::locked);
  if (i.rep) signals.add(Signal::rep_string);
  if (is_serializing(d, i.branch)) signals.add(Signal::serializing);
  if (d.mnemonic() == ZYDIS_MNEMONIC_XBEGIN) signals.add(Signal::tx_start);
  if (d.mnemonic() == ZYDIS_MNEMONIC_XEND) signals.add(Signal::tx_commit);
  return signals;
}

bool is_multiplication(InstructionForm form, const FpOperation& fp) {
  switch (form) {
    case InstructionForm::imul_32:
    case InstructionForm::imul_64:
    case InstructionForm::mul_wide:
      return true;
    default:
      return fp.kind == FpOperation::Kind::multiply;
  }
}

// What the form says, as events count it.
SignalSet form_signals(const Instruction& i, const FpOperation& fp) {
  SignalSet signals;
  if (is_multiplication(i.form, fp)) signals.add(Signal::multiply);
  if (i.form == InstructionForm::lea_three || i.form == InstructionForm::lea_scaled)
    signals.add(Signal::slow_lea);
  if (i.form == InstructionForm::load_fence) signals.add(Signal::load_fence);
  if (i.form == InstructionForm::move) signals.add(Signal::register_move);
  if (i.form == InstructionForm::vector_move && i.memory_operands == 0)
    signals.add(Signal::vector_register_move);
  return signals;
}

TransactionRole transaction_role(const Decoded& d, BranchKind branch) {
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_XBEGIN:
      return TransactionRole::begins;
    case ZYDIS_MNEMONIC_XEND:
      return TransactionRole::commits;
    case ZYDIS_MNEMONIC_XABORT:
      return TransactionRole::aborts;
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_PAUSE:
      return TransactionRole::unfriendly;
    default:
      return branch == BranchKind::none || is_near_branch(branch) ? TransactionRole::none
                                                                  : TransactionRole::unfriendly;
  }
}

bool has_length_changing_prefix(const Decoded& d) {
  const auto& constant = d.instruction.raw.imm[0];
  return d.has(ZYDIS_ATTRIB_HAS_OPERANDSIZE) && constant.size == 16 && constant.is_relative == ZYAN_FALSE;
}

// What follows the opcode is ModRM, an offset or a constant, or nothing.
u8 opcode_offset(const Decoded& d) {
  const auto& raw = d.instruction.raw;
  if (d.has(ZYDIS_ATTRIB_HAS_MODRM)) return static_cast<u8>(raw.modrm.offset - 1);
  if (raw.disp.size != 0) return static_cast<u8>(raw.disp.offset - 1);
  if (raw.imm[0].size != 0) return static_cast<u8>(raw.imm[0].offset - 1);
  return static_cast<u8>(d.instruction.length - 1);
}

}  // namespace

bool is_nop(const Decoded& d) {
  return d.category() == ZYDIS_CATEGORY_NOP || d.category() == ZYDIS_CATEGORY_WIDENOP ||
         d.mnemonic() == ZYDIS_MNEMONIC_ENDBR64 || d.mnemonic() == ZYDIS_MNEMONIC_ENDBR32;
}

bool is_prefetch(const Decoded& d) {
  if (d.category() == ZYDIS_CATEGORY_PREFETCH) return true;
  const std::string_view name = ZydisMnemonicGetString(d.mnemonic());
  return name.starts_with("vgatherpf") || name.starts_with("vscatterpf");
}

SignalSet prefetch_signals(const Decoded& d) {
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_PREFETCHNTA:
      return {Signal::prefetch_nta};
    case ZYDIS_MNEMONIC_PREFETCHT0:
      return {Signal::prefetch_t0};
    case ZYDIS_MNEMONIC_PREFETCHT1:
    case ZYDIS_MNEMONIC_PREFETCHT2:
      return {Signal::prefetch_t1_t2};
    case ZYDIS_MNEMONIC_PREFETCHW:
      return {Signal::prefetch_write};
    default:
      return {};
  }
}

bool is_rep_string(const Decoded& d) {
  return d.has(ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

bool is_locked(const Decoded& d) {
  if (d.has(ZYDIS_ATTRIB_HAS_LOCK)) return true;
  // XCHG with memory locks without a prefix.
  return d.mnemonic() == ZYDIS_MNEMONIC_XCHG && (d.all_operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ||
                                                 d.all_operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY);
}

Instruction decode(std::span<const std::byte> code, u64 ip) {
  Instruction result;
  result.ip = ip;
  const auto decoded = zydis_decode(code);
  if (!decoded) return result;

  result.length = decoded->instruction.length;
  result.branch = branch_kind(*decoded);
  result.rep = is_rep_string(*decoded);
  result.locked = is_locked(*decoded);
  result.length_changing_prefix = has_length_changing_prefix(*decoded);
  result.opcode_offset = opcode_offset(*decoded);
  result.transaction = transaction_role(*decoded, result.branch);
  result.target = relative_target(result, *decoded);
  add_memory_operands(result, *decoded);
  add_registers(result, *decoded);
  const FpOperation fp = fp_operation(*decoded);
  result.signals = static_signals(result, *decoded) | fp.signals;
  add_cost(result, *decoded, fp);
  add_form(result, *decoded, fp);
  add_flops(result, *decoded, fp);
  result.signals = result.signals | form_signals(result, fp);
  if (result.execution == ExecutionClass::divide || result.execution == ExecutionClass::fp_divide) {
    result.signals.add(Signal::divide);
  }
  return result;
}

std::string disassemble(std::span<const std::byte> code, u64 ip) {
  auto decoded = zydis_decode(code);
  if (!decoded) return "(bad)";
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  std::array<char, 256> text{};
  ZydisFormatterFormatInstruction(&formatter, &decoded->instruction, decoded->all_operands.data(),
                                  decoded->instruction.operand_count_visible, text.data(), text.size(), ip,
                                  nullptr);
  return text.data();
}

}  // namespace pmusim::x86
