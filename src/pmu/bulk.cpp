// SPDX-License-Identifier: MIT
// Whole blocks at once, as far as nothing but counting happens. What makes that stop is decided here;
// retire() is the reference that this has to agree with.
#include <algorithm>

#include "arch/debugctl.h"
#include "pmu/sequencer.h"

namespace pmusim {

BlockSums Sequencer::totals(std::span<const Retirement> execution, u64 since, BlockBranches branches) const {
  BlockSums block{.counters = counters_.totals(execution, since)};
  if (branches == BlockBranches::apart) return block;
  for (const Retirement& r : execution) {
    if (!r.taken) continue;
    block.branches.push_back(Branch::of(r));
    block.branches.back().cycle -= since;
  }
  return block;
}

/// Something is under way that any instruction can meet, or an observer wants every event.
bool Sequencer::acts_between_blocks() const {
  return observer_ || retirement_observer_ || is_watched() || pmi_on_its_way() || pebs_.busy() ||
         ibs_.is_active() || branch_sampling_.is_recording() || keeps_last_branch();
}

u64 Sequencer::headroom(const BlockSums& block, u64 at_most) const {
  if (acts_between_blocks()) return 0;
  if (!block.branches.empty() && bts_record_due(control_.debugctl(), block.counters.cpl)) return 0;
  return counters_.headroom(block.counters, at_most);
}

u64 Sequencer::advance(const BlockSums& block, u64 at_most, const Registers* registers) {
  const u64 executions = headroom(block, at_most);
  if (executions == 0) return 0;
  lbr_.record_repeated(block.branches, now(), executions, block.counters.cycles, lbr_gate());
  advance_counters(block.counters, executions, registers);
  return executions;
}

u64 Sequencer::quiet_instructions(u32 most) const {
  return acts_between_blocks() || stores_branches() ? 0 : counters_.quiet_instructions(most);
}

bool Sequencer::stores_branches() const {
  const u64 debugctl = control_.debugctl();
  return bts_record_due(debugctl, Cpl::kernel) || bts_record_due(debugctl, Cpl::user);
}

bool Sequencer::records_branches() const {
  return (lbr_gate() == LbrGate::open && lbr_.is_enabled()) || keeps_last_branch() || stores_branches() ||
         branch_sampling_.is_recording();
}

void Sequencer::log_branch(const Retirement& r) { lbr_.record(Branch::of(r), lbr_gate()); }

CounterRoom Sequencer::room(const RunShape& shape) const {
  if (acts_between_blocks() || bts_record_due(control_.debugctl(), Cpl::user)) return {};
  return counters_.room(shape);
}

void Sequencer::advance(const CounterTotals& sum, const Registers* registers) {
  advance_counters(sum, 1, registers);
}

void Sequencer::advance_counters(const CounterTotals& block, u64 executions, const Registers* registers) {
  counters_.advance(block, executions);
  occurred_while_waiting_ = 0;
  remember(registers);
}

}  // namespace pmusim
