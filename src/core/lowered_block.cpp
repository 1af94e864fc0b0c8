// SPDX-License-Identifier: MIT
#include "core/lowered_block.h"

#include <algorithm>
#include <bit>

#include "core/branch_outcome.h"

namespace pmusim {
namespace {

constexpr InstructionCost nothing{.latency_cycles = 0, .uops = 0};  // the second half of a fused pair

/// As many of them as `list` takes, which is filled up. Whether those are all.
template <std::size_t size>
bool fill(std::array<u8, size>& list, x86::RegisterMask registers, u8 filler) {
  list.fill(filler);
  for (u8& each : list) {
    if (registers == 0) break;
    each = static_cast<u8>(std::countr_zero(registers));
    registers &= registers - 1;
  }
  return registers == 0;
}

bool is_one_uop(const InstructionCost& work) {
  const PortUse& use = work.uses[0];
  return use.ports != 0 && use.cycles <= 1 && use.uops <= 1 && work.uses[1].ports == 0;
}

u8 accesses_of(const x86::Instruction& instruction) {
  unsigned accesses = 0;
  for (const x86::MemoryOperand& m : instruction.accesses())
    accesses |= (m.load ? 1u : 0) | (m.store ? 2u : 0);
  return static_cast<u8>(accesses);
}

/// What a load needs no adder for: a base and a small offset. Vector registers have their data later anyway.
bool has_plain_address(const x86::Instruction& instruction) {
  constexpr i64 farthest = 2047;
  const x86::MemoryOperand& m = instruction.memory[0];
  return instruction.memory_operands == 1 && m.base < 16 && m.index >= 16 && !m.fs && !m.gs &&
         m.displacement >= 0 && m.displacement <= farthest;
}

bool loads_general_register(const x86::Instruction& instruction) {
  return instruction.memory_operands == 1 && (instruction.registers_written & low_bits(16)) != 0;
}

std::size_t flop_index(Quantity kind) {
  return static_cast<std::size_t>(kind) - static_cast<std::size_t>(Quantity::flops_add);
}

// Uops that go to ports, those of the memory operands too.
u32 executed_uops(const LoweredInstruction& lowered) {
  u32 uops = (lowered.loads() ? 1 : 0) + (lowered.stores() ? 2 : 0);
  for (const PortUse& use : lowered.work.uses)
    if (use.ports != 0 && use.cycles == 1) uops += std::max<u32>(use.uops, 1);
  return uops;
}

bool divides(const PortUse& use) { return use.ports == PortMask{1} << divider_port; }

}  // namespace

// The second of a fused pair shares the slots of the first; the divider is busy with one instruction at a
// time.
CodeQuantities CodeQuantities::of(const x86::Instruction& instruction, const LoweredInstruction& lowered) {
  CodeQuantities quantities;
  quantities.uops = lowered.second_of_pair ? 0 : lowered.slots();
  if (instruction.signals.has(Signal::microcoded)) quantities.heavy_slots = quantities.uops;
  if (instruction.signals.has(Signal::x87)) quantities.x87_uops = executed_uops(lowered);
  if (instruction.flops != 0) quantities.flops[flop_index(instruction.flop_kind)] = instruction.flops;
  if (!instruction.signals.has(Signal::divide)) return quantities;
  const bool integers = instruction.execution == x86::ExecutionClass::divide;
  u32& cycles = integers ? quantities.dividing_integers_cycles : quantities.dividing_fp_cycles;
  for (const PortUse& use : lowered.work.uses)
    if (divides(use)) cycles = use.cycles;
  return quantities;
}

CodeQuantities& CodeQuantities::operator+=(const CodeQuantities& other) {
  uops += other.uops;
  heavy_slots += other.heavy_slots;
  dividing_integers_cycles += other.dividing_integers_cycles;
  dividing_fp_cycles += other.dividing_fp_cycles;
  x87_uops += other.x87_uops;
  for (std::size_t i = 0; i < flops.size(); ++i) flops[i] += other.flops[i];
  return *this;
}

void CodeQuantities::add_to(Quantities& quantities) const {
  const auto add = [&](Quantity which, u32 amount) { quantities[static_cast<unsigned>(which)] += amount; };
  add(Quantity::uops, uops);
  add(Quantity::uops_issued, uops);
  add(Quantity::slots_heavy, heavy_slots);
  add(Quantity::divider_cycles_integer, dividing_integers_cycles);
  add(Quantity::divider_cycles_fp, dividing_fp_cycles);
  add(Quantity::uops_x87, x87_uops);
  for (std::size_t i = 0; i < flops.size(); ++i)
    quantities[static_cast<std::size_t>(Quantity::flops_add) + i] += flops[i];
}

bool Lowering::fuses(const x86::Instruction& first, const x86::Instruction& second) const {
  if (second.condition == ConditionGroup::none || first.flag_writer == FlagWriter::none) return false;
  if (rules_.fusion == MacroFusion::ice_lake && first.memory_operands != 0) return false;
  return pmusim::fuses(rules_.fusion, first.flag_writer, second.condition);
}

bool Lowering::may_pair(const x86::Instruction& instruction) const {
  if (instruction.flag_writer == FlagWriter::none) return false;
  if (rules_.fusion == MacroFusion::ice_lake && instruction.memory_operands != 0) return false;
  return pmusim::fuses(rules_.fusion, instruction.flag_writer, ConditionGroup::equal);
}

// An opcode that does without the second byte of others has no room for what tells R12 from RSP, which older
// decoders settle in the first of them (uiCA's table of microarchitectures).
Decoding Lowering::decoding(const x86::Instruction& instruction) const {
  constexpr x86::RegisterMask rsp_or_r12 =
      bit(static_cast<unsigned>(Gpr::rsp)) | bit(static_cast<unsigned>(Gpr::r12));
  const bool pops_it =
      instruction.form == InstructionForm::pop && (instruction.registers_written & rsp_or_r12) != 0;
  return pops_it ? rules_.pop_r12_decoding : Decoding::any;
}

RenamedMove Lowering::renamed_move(const x86::Instruction& instruction) const {
  const bool copies = instruction.memory_operands == 0 && std::has_single_bit(instruction.registers_read) &&
                      std::has_single_bit(instruction.registers_written);
  if (!rules_.moves_take_slots || !copies || costs_->of(instruction.form).uses[0].ports != 0)
    return RenamedMove::none;
  if (instruction.form == InstructionForm::move) return RenamedMove::general;
  return instruction.form == InstructionForm::vector_move ? RenamedMove::vector : RenamedMove::none;
}

// A part of a register is not renamed by itself, so what is written there waits for the rest; and some
// instructions wait for a destination that they do not need.
x86::RegisterMask Lowering::also_read(const x86::Instruction& instruction) const {
  x86::RegisterMask registers = 0;
  if (rules_.merges_partial_registers != 0) registers |= instruction.written_16;
  if (rules_.merges_partial_registers == 8) registers |= instruction.written_8;
  const auto wait_if = [&](unsigned which) {
    if ((rules_.waits_for_old_destination & which) != 0)
      registers |= instruction.registers_written & low_bits(16);
  };
  switch (instruction.form) {
    case InstructionForm::popcnt:
      wait_if(1);
      break;
    case InstructionForm::lzcnt:
    case InstructionForm::tzcnt:
      wait_if(2);
      break;
    case InstructionForm::bit_scan:
      wait_if(4);
      break;
    default:
      break;
  }
  return registers;
}

// Uops of a slot have no room for an index beside all other registers (Intel's optimization manual on Sandy
// Bridge; since Haswell there is where the destination is a source, too).
unsigned Lowering::parted_uops(const x86::Instruction& instruction) const {
  if (rules_.splits_indexed_operands == 0 || instruction.memory_operands != 1 || instruction.locked) return 0;
  const x86::MemoryOperand& m = instruction.memory[0];
  if (m.index >= 16 || m.vector_index) return 0;
  const bool alone =
      instruction.form == InstructionForm::load || instruction.form == InstructionForm::vector_load;
  if (alone) return 0;
  if (rules_.splits_indexed_operands == 1) return m.load && m.store ? 2 : 1;
  return m.store || instruction.modifies_register ? 0 : 1;
}

// A load or a store shares the slot of the operation beside it; a second access, or both in one, does not.
unsigned Lowering::uops_of(const x86::Instruction& instruction) const {
  if (instruction.locked) return costs_->of(InstructionForm::locked).uops;
  const unsigned uops = costs_->of(instruction.form).uops;
  const bool both =
      instruction.memory_operands == 1 && instruction.memory[0].load && instruction.memory[0].store;
  if (both || instruction.memory_operands == 2)
    return std::max<unsigned>(uops, costs_->read_modify_write_uops);
  const bool alone =
      instruction.form == InstructionForm::load || instruction.form == InstructionForm::vector_load;
  return uops + (rules_.splits_constants_at_rip && instruction.constant_at_rip && !alone ? 1 : 0);
}

LoweredInstruction Lowering::lower(const x86::Instruction& instruction) const {
  const bool serializing = instruction.execution == x86::ExecutionClass::serializing;
  LoweredInstruction lowered{
      .ip = instruction.ip,
      .work = costs_->of(instruction.locked ? InstructionForm::locked : instruction.form),
      .length = instruction.length,
      .uops = static_cast<u8>(uops_of(instruction)),
      .branch = instruction.branch,
      .accesses = accesses_of(instruction),
      .operands = instruction.memory_operands,
      .locked = instruction.locked,
      .rep = instruction.rep,
      .serializing = serializing,
      .enters_kernel = enters_the_kernel(instruction.branch),
      .length_changing_prefix = instruction.length_changing_prefix,
      .transaction = instruction.transaction,
      .rare = serializing || enters_the_kernel(instruction.branch) || instruction.flushes_line};
  using Lowered = LoweredInstruction;
  lowered.opcode_offset = instruction.opcode_offset & 15;
  lowered.added_slots = parted_uops(instruction) & 7;
  lowered.parts = lowered.added_slots != 0;
  lowered.may_pair = may_pair(instruction);
  lowered.decoding = decoding(instruction);
  lowered.move = renamed_move(instruction);
  lowered.may_be_slow = rules_.slow_addresses && lowered.loads() && loads_general_register(instruction);
  lowered.always_slow = lowered.may_be_slow && !has_plain_address(instruction);
  if (rules_.stack_sync) lowered.stack = instruction.stack;
  const x86::RegisterMask read = instruction.registers_read | also_read(instruction);
  const bool sources = fill(lowered.sources, read, Lowered::no_source);
  const bool results = fill(lowered.results, instruction.registers_written, Lowered::no_result);
  const bool addresses = fill(lowered.address_sources, instruction.address_registers, Lowered::no_source);
  lowered.masked = !sources || !results || !addresses;
  std::ranges::transform(instruction.accesses(), lowered.memory.begin(), [](const x86::MemoryOperand& m) {
    return Lowered::Operand{.bytes = m.bytes, .load = m.load, .store = m.store};
  });
  return lowered;
}

// A jump, with what it is fused with, that crosses or ends at a border of 32 bytes: what stands in the window
// with it is decoded every time (Intel, "Mitigations for Jump Conditional Code Erratum").
void Lowering::leave_uncached(LoweredBlock& lowered) {
  constexpr u64 window_bytes = 32;
  std::span<LoweredInstruction> all = lowered.instructions;
  if (all.back().branch == BranchKind::none) return;
  const LoweredInstruction& first = all[all.size() - (all.back().second_of_pair ? 2 : 1)];
  const u64 window = first.ip / window_bytes;
  if (window == all.back().end() / window_bytes) return;
  for (LoweredInstruction& each : all) each.uncached = each.ip / window_bytes >= window;
}

// A pair executes as its branch, where the first of it stands.
void Lowering::lower(const trace::Block& block, LoweredBlock& lowered) const {
  lowered.instructions.clear();
  lowered.target = block.instructions.back().target;
  lowered.branches_within = false;
  const x86::Instruction* previous = nullptr;
  x86::RegisterMask high_bytes = 0;  // that were written apart from the rest of their registers
  for (const x86::Instruction& instruction : block.instructions) {
    LoweredInstruction made = lower(instruction);
    if (previous != nullptr) {
      LoweredInstruction& before = lowered.instructions.back();
      made.stays_in_line = (before.end() - 1) / line_bytes_ == (made.end() - 1) / line_bytes_;
      lowered.branches_within |= before.branch != BranchKind::none;
      if (fuses(*previous, instruction)) {
        made.second_of_pair = made.fused = before.fused = true;
        before.may_pair = 0;
        if (!before.second_of_pair && !before.locked)
          before.work = costs_->of(InstructionForm::conditional_branch);
        if (!made.locked) made.work = nothing;
      }
    }
    // A uop of its own brings the two together (Intel's optimization manual, on partial registers), in a
    // cycle of its own (uiCA).
    const x86::RegisterMask needed = high_bytes & instruction.registers_read;
    if (needed != 0 && instruction.written_high == 0 && rules_.high_byte_merge_uops != 0) {
      made.added_slots = (made.added_slots + rules_.high_byte_merge_uops) & 7;
      made.merges = 1;
      high_bytes &= ~needed;
    }
    high_bytes = (high_bytes & ~instruction.registers_written) | instruction.written_high;
    lowered.instructions.push_back(made);
    previous = &instruction;
  }
  if (rules_.jump_border_erratum) leave_uncached(lowered);
  const bool pair = lowered.instructions.back().second_of_pair;
  LoweredInstruction& last = *(lowered.instructions.end() - (pair ? 2 : 1));
  last.may_leave = block.instructions.back().form == InstructionForm::conditional_branch && !last.locked;
  lowered.quantities = {};
  for (std::size_t n = 0; n < lowered.instructions.size(); ++n) {
    LoweredInstruction& each = lowered.instructions[n];
    each.one_uop = is_one_uop(each.work);
    lowered.quantities += CodeQuantities::of(block.instructions[n], each);
  }
}

}  // namespace pmusim
