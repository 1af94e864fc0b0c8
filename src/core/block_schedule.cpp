// SPDX-License-Identifier: MIT
#include "core/block_schedule.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "core/branch_outcome.h"

namespace pmusim {
namespace {

/// A block on its way through a core without caches.
class Issue {
 public:
  explicit Issue(const CoreParameters& core)
      : core_(core), costs_(core.costs == nullptr ? default_instruction_costs() : *core.costs) {}

  /// The cycle in which the next instruction retires.
  u32 issue(const x86::Instruction& instruction) {
    if (instruction.execution == x86::ExecutionClass::serializing) begin_at(retired_ + 1);
    const u32 start = std::max(cycle_, ready(instruction.registers_read));
    const u32 latency = latency_of(instruction);
    take_slot();
    for (x86::RegisterMask left = instruction.registers_written; left != 0; left &= left - 1)
      registers_[static_cast<unsigned>(std::countr_zero(left))] = start + latency;
    // What takes a cycle retires in it, and is there for others in the next.
    retired_ = std::max(retired_, start + std::max(latency, 1u) - 1);
    if (instruction.execution == x86::ExecutionClass::serializing) begin_at(retired_ + 1);
    return retired_;
  }

 private:
  u32 ready(x86::RegisterMask registers) const {
    u32 latest = 0;
    for (; registers != 0; registers &= registers - 1)
      latest = std::max(latest, registers_[static_cast<unsigned>(std::countr_zero(registers))]);
    return latest;
  }
  u32 latency_of(const x86::Instruction& instruction) const {
    const auto form = instruction.locked ? InstructionForm::locked : instruction.form;
    u32 latency = costs_.of(form).latency_cycles;
    if (instruction.signals.has(Signal::load)) latency += core_.l1d.latency_cycles;
    return enters_the_kernel(instruction.branch) ? latency + core_.system_call_cycles : latency;
  }
  void take_slot() {
    if (++in_cycle_ == core_.issue_width) begin_at(cycle_ + 1);
  }
  void begin_at(u32 cycle) {
    if (cycle <= cycle_) return;
    cycle_ = cycle;
    in_cycle_ = 0;
  }

  const CoreParameters& core_;
  const InstructionCosts& costs_;
  u32 cycle_ = 1, retired_ = 0;
  unsigned in_cycle_ = 0;
  std::array<u32, 64> registers_{};  // by bit of x86::RegisterMask: when they are there
};

}  // namespace

BlockSchedule schedule_flat(const trace::Block& block, const CoreParameters&) {
  BlockSchedule schedule(block.instructions.size());
  std::iota(schedule.begin(), schedule.end(), 1u);
  return schedule;
}

BlockSchedule schedule_simple(const trace::Block& block, const CoreParameters& core) {
  Issue issue(core);
  BlockSchedule schedule;
  for (const x86::Instruction& instruction : block.instructions) schedule.push_back(issue.issue(instruction));
  return schedule;
}

}  // namespace pmusim
