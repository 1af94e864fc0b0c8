// SPDX-License-Identifier: MIT
// Whole blocks at once, as far as nothing but counting happens. What makes that stop is decided here;
// retire() is the truth that this has to agree with.
#include <algorithm>

#include "arch/debugctl.h"
#include "pmu/sequencer.h"

namespace pmusim {

BlockSums Sequencer::totals(std::span<const Retirement> execution, u64 since) const {
  BlockSums block{.counters = counters_.totals(execution, since)};
  for (const Retirement& r : execution) {
    if (!r.taken) continue;
    block.branches.push_back(Branch::of(r));
    block.branches.back().cycle -= since;
  }
  return block;
}

u64 Sequencer::headroom(const BlockSums& block, u64 at_most) const {
  if (observer_ || retirement_observer_) return 0;  // they want to know all that happens
  if (pmi_on_its_way() || pebs_.busy()) return 0;
  if (!block.branches.empty() && bts_record_due(control_.debugctl(), block.counters.cpl)) return 0;
  return counters_.headroom(block.counters, at_most);
}

u64 Sequencer::advance(const BlockSums& block, u64 at_most, const Registers* registers) {
  const u64 executions = headroom(block, at_most);
  if (executions == 0) return 0;
  lbr_.record_repeated(block.branches, now(), executions, block.counters.cycles,
                       lbr_gate(*model_, control_.debugctl(), counters_.status()));
  counters_.advance(block.counters, executions);
  occurred_while_waiting_ = 0;
  remember(registers);
  return executions;
}

}  // namespace pmusim
