// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_RECORDED_INSTRUCTION_H
#define PMUSIM_SRC_CORE_RECORDED_INSTRUCTION_H

#include <cstddef>

#include "pmusim/cpu/retirement.h"
#include "pmusim/trace/trace.h"

/// What a trace says of an instruction of a block's execution, whatever core it runs on.
namespace pmusim {

/// Where execution went on behind it.
inline u64 next_ip_of(const trace::BlockRun& run, std::size_t number) {
  const auto& all = run.block->instructions;
  return number + 1 == all.size() ? run.next_ip : all[number + 1].ip;
}

/// Null if the trace has none.
inline const Registers* registers_after(const trace::BlockRun& run, std::size_t number) {
  return number < run.registers.size() ? &run.registers[number] : nullptr;
}

/// Fills in a retirement but for what the core decides: its time, its outcome, signals and quantities.
/// `change`: of the run's changes the first that is of this instruction or of a later one, and, afterwards,
/// of a later one.
inline void retire_as_recorded(const trace::BlockRun& run, std::size_t number, std::size_t& change,
                               Retirement& retirement) {
  const x86::Instruction& instruction = run.block->instructions[number];
  const bool last = number + 1 == run.block->instructions.size();
  retirement.ip = instruction.ip;
  retirement.next_ip = next_ip_of(run, number);
  retirement.cpl = run.block->ring;
  retirement.cpl_after = last ? run.next_ring : run.block->ring;
  retirement.length = instruction.length;
  retirement.branch = instruction.branch;
  retirement.registers = registers_after(run, number);
  const auto changes = run.extended_changes;
  const bool changed = change < changes.size() && changes[change].instruction == number;
  retirement.extended = changed ? &changes[change++].change : nullptr;
}

/// An interrupt or exception enters its handler from ring `from`: no instruction, but a branch.
inline Retirement handler_entry(const trace::Interrupt& interrupt, Cpl from, u64 cycle) {
  return {.ip = interrupt.from,
          .next_ip = interrupt.handler,
          .cycle = cycle,
          .branch = BranchKind::interrupt,
          .taken = true,
          .cpl = from,
          .cpl_after = Cpl::kernel};
}

}  // namespace pmusim

#endif
