// SPDX-License-Identifier: MIT
#include "pmu/block_runs.h"

#include "pmu/sequencer.h"

namespace pmusim {

bool BlockRuns::begin(const Execution& execution) {
  const CounterRoom room = sequencer().room();
  if (execution.instructions > room.instructions || execution.cycles > room.cycles) return false;
  if (sequencer().counters().programming() != programming_)
    forget_kinds(sequencer().counters().programming());
  room_ = room;
  gate_ = sequencer().lbr_gate();
  return true;
}

void BlockRuns::forget_kinds(u64 programming) {
  programming_ = programming;
  std::ranges::fill(row_of_, unknown);
  rows_.clear();
  last_cycles_.clear();
}

void BlockRuns::learn(u32 kind, std::span<const Retirement> execution, u64 since) {
  if (kind >= row_of_.size()) row_of_.resize(std::max<std::size_t>(kind + 1, 2 * row_of_.size()), unknown);
  const CounterTotals totals = sequencer().counters().totals(execution, since);
  row_of_[kind] = exact_only;
  if (!totals.additive || totals.occurrences.size() > most_counters) return;
  row_of_[kind] = static_cast<u32>(rows_.size());
  std::ranges::transform(totals.occurrences, rows_.emplace_back().begin(),
                         [](u64 occurrences) { return static_cast<u32>(occurrences); });
  last_cycles_.push_back(totals.in_last_cycle);
}

void BlockRuns::record(const Branch& branch) { sequencer().record_in_lbr(branch); }

void BlockRuns::settle(const Registers* registers) {
  room_ = {};
  if (cycles_ == 0) return;
  CounterTotals sum{.programming = programming_, .cycles = cycles_, .additive = true};
  sum.occurrences.assign(sums_.begin(), sums_.end());
  sum.in_last_cycle = last_cycles_[newest_row_];
  sequencer().advance(sum, registers);
  sums_ = {};
  cycles_ = 0;
}

}  // namespace pmusim
