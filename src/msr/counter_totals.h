// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MSR_COUNTER_TOTALS_H
#define PMUSIM_MSR_COUNTER_TOTALS_H

#include <boost/container/small_vector.hpp>

#include "msr/perf_metrics.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// What one execution of a block of instructions adds to the counters: `CounterFile::totals` computes it
/// once, `CounterFile::advance` adds it as often as the block runs.
///
/// It holds for the counter programming that it was computed under, and again when that one comes back.
struct CounterTotals {
  u64 programming = 0;  ///< CounterFile::programming()
  u64 cycles = 0;       ///< from the retirement before the block to its last one
  Cpl cpl = Cpl::user;
  TxState tx = TxState::none;
  /// N executions add N times as much, however they lie in time. The rest stays zero where they do not.
  bool additive = false;
  bool begins_cycle = false;  ///< its first instruction shares no cycle with what was before
  boost::container::small_vector<u64, 8> occurrences;  ///< of the counters that count retirements, in order
  /// Of the counters that sum up within a cycle, in order: what their last cycle holds so far, and what all
  /// cycles add beyond as many empty ones, modulo 2^64.
  boost::container::small_vector<u32, 4> in_last_cycle;
  boost::container::small_vector<u64, 4> beyond_empty;
  PerfMetrics::Slots slots{};
};

/// What is known of retirements in user mode before they are summed up.
struct RunShape {
  /// The most that retire in one cycle. 0: CounterTotals say of each block what its cycles hold, and its
  /// first instruction has a cycle that is not shared with the block before.
  u32 most_in_cycle = 0;
  friend bool operator==(const RunShape&, const RunShape&) = default;
};

/// How far retirements in user mode can be summed up, whatever they are: no counter can wrap within so many
/// instructions in so many cycles.
struct CounterRoom {
  u64 instructions = 0, cycles = 0;
};

inline constexpr std::size_t most_summed_counters = 16;
/// A number for each of the counters that count retirements, in the order of CounterTotals::occurrences, or
/// for each that sums up within a cycle, in the order of CounterTotals::in_last_cycle.
using CounterRow = std::array<u32, most_summed_counters>;
using CounterSums = std::array<u64, most_summed_counters>;

/// Part of what a counter makes of quantities: so often a sum of one over instructions, modulo 2^64.
struct QuantityTerm {
  std::size_t counter = 0;  ///< by its place in a CounterRow
  Quantity quantity = Quantity::none;
  u64 factor = 1;
};

}  // namespace pmusim

#endif
