// SPDX-License-Identifier: MIT
#include "pmu/block_runs.h"

#include <algorithm>
#include <utility>

#include "pmu/sequencer.h"

namespace pmusim {

bool BlockRuns::begin(const Execution& execution) {
  const CounterRoom room = sequencer().room(shape_);
  if (execution.instructions > room.instructions || execution.cycles > room.cycles) return false;
  const CounterFile& counters = sequencer().counters();
  if (counters.programming() != programming_) forget_kinds(counters.programming());
  room_ = room;
  branches_.begin(sequencer().lbr(), sequencer().lbr_gate());
  if (shape_.most_in_cycle == 0) return true;
  quantity_room_ = counters.quantity_room();
  sums_within_cycles_ = counters.counters_within_cycle() != 0;
  in_cycle_ = counters.open_cycle();
  return true;
}

void BlockRuns::forget_kinds(u64 programming) {
  const CounterFile& counters = sequencer().counters();
  programming_ = programming;
  counters_ = std::min(counters.counters_of_retirements(), most_summed_counters);
  counted_signals_ = counters.counted_signals();
  counts_quantities_ = counters.counts_quantities();
  compares_quantities_ = counters.compares_quantities();
  quantity_terms_ = counters.quantity_terms();
  summed_quantities_ = {};
  for (const QuantityTerm& each : quantity_terms_) summed_quantities_.add(each.quantity);
  std::ranges::fill(row_of_, unknown);
  rows_.clear();
  last_cycles_.clear();
}

u32& BlockRuns::row_of(u32 kind) {
  if (kind >= row_of_.size()) {
    row_of_.resize(std::max<std::size_t>(kind + 1, 2 * row_of_.size()), unknown);
    executions_.resize(row_of_.size());
  }
  return row_of_[kind];
}

void BlockRuns::learn(u32 kind, std::span<const Retirement> execution, u64 since) {
  const CounterTotals totals = sequencer().counters().totals(execution, since);
  u32& row = row_of(kind) = exact_only;
  const bool is_like_empty = std::ranges::all_of(totals.beyond_empty, [](u64 sum) { return sum == 0; });
  if (!totals.additive || !is_like_empty || totals.occurrences.size() > most_summed_counters) return;
  row = static_cast<u32>(rows_.size());
  std::ranges::transform(totals.occurrences, rows_.emplace_back().begin(),
                         [](u64 occurrences) { return static_cast<u32>(occurrences); });
  last_cycles_.push_back(totals.in_last_cycle);
}

void BlockRuns::learn(u32 kind, std::span<const SignalSet> usual) {
  row_of(kind) = static_cast<u32>(rows_.size());
  Row& row = rows_.emplace_back();
  for (const SignalSet& signals : usual) {
    const CounterRow occurrences = sequencer().counters().occurrences(signals);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += occurrences[i];
  }
}

// Sums are modulo 2^32 on the way.
void BlockRuns::correct(const SignalSet& usual, const SignalSet& actual) {
  const CounterFile& counters = sequencer().counters();
  const CounterRow counted = counters.occurrences(usual), occurred = counters.occurrences(actual);
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += occurred[i] - counted[i];
}

void BlockRuns::compare_quantities(const Retirement& retirement) {
  sequencer().counters().add_compared_quantities(retirement, pending_quantities_);
}

bool BlockRuns::take_quantities(const Quantities& sums) {
  CounterSums added = std::exchange(pending_quantities_, {});
  for (const QuantityTerm& each : quantity_terms_)
    added[each.counter] += each.factor * sums[static_cast<unsigned>(each.quantity)];
  for (std::size_t i = 0; i < added.size(); ++i)
    if (added[i] > quantity_room_[i] - quantities_[i]) return false;
  for (std::size_t i = 0; i < added.size(); ++i) quantities_[i] += added[i];
  return true;
}

void BlockRuns::add_to_cycle(const SignalSet& signals) {
  const CounterRow occurrences = sequencer().counters().occurrences_within_cycle(signals);
  for (std::size_t i = 0; i < in_cycle_.size(); ++i) in_cycle_[i] += occurrences[i];
}

void BlockRuns::record_special(const Branch& branch) { branches_.record_at_once(branch, sequencer().lbr()); }

void BlockRuns::begin_branches() { branches_.begin(sequencer().lbr(), sequencer().lbr_gate()); }

void BlockRuns::take_in_branches() { branches_.record_in(sequencer().lbr()); }

void BlockRuns::sum_up_kinds() {
  for (const u32 kind : kinds_) {
    const u32 executions = std::exchange(executions_[kind], 0);
    const Row& row = rows_[row_of_[kind]];
    for (std::size_t i = 0; i < counters_; ++i) sums_[i] += executions * row[i];
  }
  kinds_.clear();
}

void BlockRuns::settle(const Registers* registers) {
  room_ = {};
  if (!is_behind()) return;
  branches_.record_in(sequencer().lbr());
  sum_up_kinds();
  CounterTotals sum{.programming = programming_, .cycles = cycles_, .additive = true};
  for (std::size_t i = 0; i < counters_; ++i) sum.occurrences.push_back(sums_[i] + quantities_[i]);
  if (shape_.most_in_cycle == 0)
    sum.in_last_cycle = last_cycles_[row_of_[newest_kind_]];
  else
    sum.in_last_cycle.assign(in_cycle_.begin(), in_cycle_.end());
  sum.beyond_empty.resize(sum.in_last_cycle.size());
  sequencer().advance(sum, registers);
  sums_ = {};
  quantities_ = {};
  cycles_ = instructions_ = 0;
}

}  // namespace pmusim
