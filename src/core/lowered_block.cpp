// SPDX-License-Identifier: MIT
#include "core/lowered_block.h"

#include <algorithm>
#include <bit>

#include "core/branch_outcome.h"

namespace pmusim {
namespace {

constexpr InstructionCost nothing{.latency_cycles = 0, .uops = 0};  // the second half of a fused pair

struct Listed {
  LoweredInstruction::RegisterList list{};
  bool all = true;
};

Listed list_of(x86::RegisterMask registers, u8 filler) {
  Listed listed;
  listed.list.fill(filler);
  listed.all = static_cast<std::size_t>(std::popcount(registers)) <= listed.list.size();
  for (u8& each : listed.list) {
    if (registers == 0) break;
    each = static_cast<u8>(std::countr_zero(registers));
    registers &= registers - 1;
  }
  return listed;
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

}  // namespace

bool Lowering::fuses(const x86::Instruction& first, const x86::Instruction& second) const {
  if (second.condition == ConditionGroup::none || first.flag_writer == FlagWriter::none) return false;
  if (fusion_ == MacroFusion::ice_lake && first.memory_operands != 0) return false;
  return pmusim::fuses(fusion_, first.flag_writer, second.condition);
}

// A load or a store shares the slot of the operation beside it; a second access, or both in one, does not.
unsigned Lowering::uops_of(const x86::Instruction& instruction) const {
  if (instruction.locked) return costs_->of(InstructionForm::locked).uops;
  const unsigned uops = costs_->of(instruction.form).uops;
  const bool both =
      instruction.memory_operands == 1 && instruction.memory[0].load && instruction.memory[0].store;
  if (both || instruction.memory_operands == 2)
    return std::max<unsigned>(uops, costs_->read_modify_write_uops);
  return uops;
}

LoweredInstruction Lowering::lower(const x86::Instruction& instruction) const {
  const Listed sources = list_of(instruction.registers_read, LoweredInstruction::no_source);
  const Listed results = list_of(instruction.registers_written, LoweredInstruction::no_result);
  const Listed addresses = list_of(instruction.address_registers, LoweredInstruction::no_source);
  const bool serializing = instruction.execution == x86::ExecutionClass::serializing;
  return {.ip = instruction.ip,
          .work = costs_->of(instruction.locked ? InstructionForm::locked : instruction.form),
          .length = instruction.length,
          .uops = static_cast<u8>(uops_of(instruction)),
          .branch = instruction.branch,
          .sources = sources.list,
          .results = results.list,
          .address_sources = addresses.list,
          .accesses = accesses_of(instruction),
          .operands = instruction.memory_operands,
          .masked = !sources.all || !results.all || !addresses.all,
          .locked = instruction.locked,
          .rep = instruction.rep,
          .serializing = serializing,
          .enters_kernel = enters_the_kernel(instruction.branch),
          .length_changing_prefix = instruction.length_changing_prefix,
          .transaction = instruction.transaction,
          .rare = serializing || enters_the_kernel(instruction.branch) || instruction.flushes_line};
}

// A pair executes as its branch, where the first of it stands.
void Lowering::lower(const trace::Block& block, LoweredBlock& lowered) const {
  lowered.instructions.clear();
  lowered.target = block.instructions.back().target;
  lowered.branches_within = false;
  const x86::Instruction* previous = nullptr;
  for (const x86::Instruction& instruction : block.instructions) {
    LoweredInstruction made = lower(instruction);
    if (previous != nullptr) {
      LoweredInstruction& before = lowered.instructions.back();
      made.stays_in_line = (before.end() - 1) / line_bytes_ == (made.end() - 1) / line_bytes_;
      lowered.branches_within |= before.branch != BranchKind::none;
      if (fuses(*previous, instruction)) {
        made.second_of_pair = made.fused = before.fused = true;
        if (!before.second_of_pair && !before.locked)
          before.work = costs_->of(InstructionForm::conditional_branch);
        if (!made.locked) made.work = nothing;
      }
    }
    lowered.instructions.push_back(made);
    previous = &instruction;
  }
  for (LoweredInstruction& each : lowered.instructions) each.one_uop = is_one_uop(each.work);
}

}  // namespace pmusim
