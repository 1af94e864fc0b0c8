// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_CORE_PROGRAM_H
#define PMUSIM_TESTS_CORE_PROGRAM_H

#include <vector>

#include "core/core.h"

namespace pmusim::test {

/// A four-wide machine with round numbers.
inline CpuModel four_wide() {
  CpuModel model;
  model.core.issue_width = 4;
  model.core.mispredict_penalty = 16;
  model.core.l1d.latency_cycles = 5;
  model.core.l2.latency_cycles = 14;
  model.core.l3.latency_cycles = 42;
  model.core.memory_latency_cycles = 200;
  model.core.stlb_latency_cycles = 7;
  model.core.page_walk_cycles = 30;
  return model;
}

inline Core make_core(const CpuModel& model) { return Core::create(model).value(); }

inline x86::Instruction nop() {
  x86::Instruction made;
  made.length = 1;
  made.execution = x86::ExecutionClass::nop;
  made.form = InstructionForm::nop;
  made.signals = {Signal::instruction, Signal::nop};
  return made;
}

inline x86::Instruction alu(x86::RegisterMask read, x86::RegisterMask written) {
  x86::Instruction made;
  made.length = 3;
  made.registers_read = read;
  made.registers_written = written;
  made.signals = {Signal::instruction};
  return made;
}

inline x86::Instruction load(x86::RegisterMask written = 0) {
  x86::Instruction made;
  made.length = 4;
  made.execution = x86::ExecutionClass::load_only;
  made.form = InstructionForm::load;
  made.memory_operands = 1;
  made.memory[0] = {.bytes = 8, .load = true};
  made.registers_written = written;
  made.signals = {Signal::instruction, Signal::load};
  return made;
}

inline x86::Instruction store(x86::RegisterMask read = 0) {
  x86::Instruction made;
  made.length = 4;
  made.execution = x86::ExecutionClass::store_only;
  made.form = InstructionForm::store;
  made.memory_operands = 1;
  made.memory[0] = {.bytes = 8, .store = true};
  made.registers_read = read;
  made.signals = {Signal::instruction, Signal::store};
  return made;
}

inline x86::Instruction branch(BranchKind kind, u64 target = 0) {
  x86::Instruction made;
  made.length = 2;
  made.branch = kind;
  made.execution = x86::ExecutionClass::branch;
  made.form = InstructionForm::branch;
  made.target = target;
  made.signals = {Signal::instruction, Signal::branch};
  return made;
}

/// Puts instructions one behind the other from `ip` on.
inline trace::Block block_at(u64 ip, std::vector<x86::Instruction> instructions) {
  trace::Block block;
  for (x86::Instruction& instruction : instructions) {
    instruction.ip = ip;
    ip = instruction.end();
  }
  block.instructions = std::move(instructions);
  return block;
}

/// A retirement with its own copy of the memory accesses.
struct Seen : Retirement {
  explicit Seen(const Retirement& retirement)
      : Retirement(retirement), accesses(retirement.memory.begin(), retirement.memory.end()) {
    memory = {};
  }
  u32 operator[](Quantity which) const { return quantities[static_cast<unsigned>(which)]; }
  std::vector<MemoryAccess> accesses;
};

inline std::vector<Seen> run(Core& core, const trace::Block& block, std::vector<u64> addresses = {},
                             u64 next_ip = 0, std::vector<u32> rep_counts = {}) {
  std::vector<Seen> seen;
  trace::BlockRun block_run;
  block_run.block = &block;
  block_run.next_ip = next_ip != 0 ? next_ip : block.instructions.back().end();
  block_run.addresses = addresses;
  block_run.rep_counts = rep_counts;
  core.run(block_run, [&](const Retirement& retirement) { seen.emplace_back(retirement); });
  return seen;
}

inline u64 total(const std::vector<Seen>& seen, Quantity which) {
  u64 sum = 0;
  for (const Seen& retirement : seen) sum += retirement[which];
  return sum;
}

}  // namespace pmusim::test

#endif
