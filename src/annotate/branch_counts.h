// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_BRANCH_COUNTS_H
#define PMUSIM_SRC_ANNOTATE_BRANCH_COUNTS_H

#include <optional>
#include <span>
#include <vector>

#include "annotate/pair_table.h"
#include "pmusim/annotate/report.h"
#include "pmusim/perf/abi.h"

namespace pmusim::annotate {

/// Of branches with a recorded prediction, how many were predicted right; nothing without any.
inline std::optional<double> predicted_percent(u64 predicted, u64 mispredicted) {
  if (predicted + mispredicted == 0) return std::nullopt;
  return 100.0 * static_cast<double>(predicted) / static_cast<double>(predicted + mispredicted);
}

/// Taken branches from one instruction to one target.
struct EdgeCount {
  u64 from = 0, to = 0;
  u64 taken = 0, predicted = 0, mispredicted = 0;
  u64 timed = 0, cycles = 0;
  std::pair<u64, u64> key() const { return {from, to}; }
};

/// Executions of the straight line from the target of one branch to the next taken branch.
struct LineCount {
  u64 first = 0, last = 0;
  u64 executions = 0, predicted = 0, mispredicted = 0;  ///< neither, where nothing was recorded of it
  BlockCycles cycles;
  bool has_counters = false;  ///< at least one execution had them
  u64 counter_sum[4] = {};    ///< by counter, in group order
  bool counters_saturated = false;
  std::pair<u64, u64> key() const { return {first, last}; }
};

/// Where the fields are in the word of counts that comes with a branch.
struct BranchCounterLayout {
  unsigned counters = 0;  ///< 0..4; 0: no words
  unsigned bits = 2;      ///< of each, 1..16
};

/// Branch stacks of one address space, summed up. Memory grows with distinct branches and lines.
///
/// Two neighbouring entries bound one executed straight line: it starts at the target of the older and ends
/// at the branch of the newer. A stack of n entries gives n branches and n-1 lines.
class BranchCounts {
 public:
  /// `newest_first` as perf_event gives it; `counters` is empty or has a word for each entry.
  void add_branches(std::span<const perf::BranchEntry> newest_first);
  void add_lines(std::span<const perf::BranchEntry> newest_first, std::span<const u64> counters = {},
                 BranchCounterLayout layout = {});

  const std::vector<EdgeCount>& edges() const { return edges_.values(); }
  const std::vector<LineCount>& lines() const { return lines_.values(); }
  /// Neighbours that bound no line: it would start at 0 or run backwards.
  u64 broken_lines() const { return broken_lines_; }

 private:
  PairTable<EdgeCount> edges_;
  PairTable<LineCount> lines_;
  u64 broken_lines_ = 0;
  std::vector<u32> usable_;  ///< places in the stack at hand
};

}  // namespace pmusim::annotate

#endif
