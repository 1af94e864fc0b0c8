// SPDX-License-Identifier: MIT
#include "x86/classes.h"

namespace pmusim::x86 {
namespace {

u8 gpr_number(ZydisRegister reg) {
  const ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (full < ZYDIS_REGISTER_RAX || full > ZYDIS_REGISTER_R15) return 0xFF;
  return static_cast<u8>(full - ZYDIS_REGISTER_RAX);
}

// Zydis lists a memory operand that is read, but nothing is loaded or stored.
bool accesses_nothing(const Decoded& d) {
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
    case ZYDIS_MNEMONIC_CLWB:
    case ZYDIS_MNEMONIC_CLDEMOTE:
    case ZYDIS_MNEMONIC_INVLPG:
      return true;
    default:
      return is_nop(d) || is_prefetch(d);
  }
}

bool is_hidden_stack_access(const ZydisDecodedOperand& o) {
  return o.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && o.mem.base == ZYDIS_REGISTER_RSP;
}

MemoryOperand describe(const Decoded& d, const ZydisDecodedOperand& o) {
  MemoryOperand m;
  m.bytes = static_cast<u16>(o.size / 8);
  m.load = (o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
  m.store = (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  m.base = gpr_number(o.mem.base);
  m.index = gpr_number(o.mem.index);
  m.scale = m.index == 0xFF ? u8{0} : o.mem.scale;
  m.rip_relative = o.mem.base == ZYDIS_REGISTER_RIP || o.mem.base == ZYDIS_REGISTER_EIP;
  m.fs = o.mem.segment == ZYDIS_REGISTER_FS;
  m.gs = o.mem.segment == ZYDIS_REGISTER_GS;
  m.address_32 = d.instruction.address_width == 32 && !is_hidden_stack_access(o);
  m.vector_index = o.mem.type == ZYDIS_MEMOP_TYPE_VSIB;
  m.displacement = o.mem.disp.has_displacement ? o.mem.disp.value : 0;
  return m;
}

// Zydis gives stack accesses at RSP as it is before the instruction; a push stores below it, and the
// destination of `pop [rsp+x]` is computed after RSP moved up (SDM, POP).
void apply_stack_movement(MemoryOperand& m, const Decoded& d, const ZydisDecodedOperand& o) {
  if (is_hidden_stack_access(o) && m.store) m.displacement -= m.bytes;
  const bool pop_destination = d.mnemonic() == ZYDIS_MNEMONIC_POP && m.store;
  if (pop_destination && m.base == static_cast<u8>(Gpr::rsp)) m.displacement += m.bytes;
}

void add_flushed_line(Instruction& instruction, const Decoded& d) {
  if (d.mnemonic() != ZYDIS_MNEMONIC_CLFLUSH && d.mnemonic() != ZYDIS_MNEMONIC_CLFLUSHOPT) return;
  instruction.flushes_line = true;
  instruction.flushed_line = describe(d, d.all_operands[0]);
  instruction.flushed_line.load = false;
}

}  // namespace

void add_memory_operands(Instruction& instruction, const Decoded& d) {
  add_flushed_line(instruction, d);
  if (accesses_nothing(d)) return;
  for (const ZydisDecodedOperand& o : d.operands()) {
    if (o.type != ZYDIS_OPERAND_TYPE_MEMORY || o.mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
    if (o.actions == 0 || instruction.memory_operands == instruction.memory.size()) continue;
    MemoryOperand m = describe(d, o);
    apply_stack_movement(m, d, o);
    if (d.mnemonic() == ZYDIS_MNEMONIC_XLAT) {
      m.index = static_cast<u8>(Gpr::rax);
      m.scale = 1;
      m.byte_index = true;
    }
    instruction.memory[instruction.memory_operands++] = m;
  }
}

u64 effective_address(const Instruction& instruction, const MemoryOperand& m, const Registers& before,
                      u64 fs_base, u64 gs_base) {
  u64 offset = static_cast<u64>(m.displacement);
  if (m.rip_relative) offset += instruction.end();
  if (m.base < before.gpr.size()) offset += before.gpr[m.base];
  if (m.index < before.gpr.size()) {
    const u64 index = before.gpr[m.index];
    offset += (m.byte_index ? index & 0xFF : index) * m.scale;
  }
  if (m.address_32) offset &= low_bits(32);
  if (m.fs) offset += fs_base;
  if (m.gs) offset += gs_base;
  return offset;
}

}  // namespace pmusim::x86
