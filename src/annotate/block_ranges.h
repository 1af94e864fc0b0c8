// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_BLOCK_RANGES_H
#define PMUSIM_SRC_ANNOTATE_BLOCK_RANGES_H

#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::annotate {

/// Addresses [first, last] that were always executed as one. `last` is the first byte of the last
/// instruction.
struct BlockRange {
  u64 first = 0, last = 0;
  u64 entry = 0;                        ///< lines that began at `first`
  u64 coverage = 0;                     ///< lines that ran through
  u64 taken = 0;                        ///< lines that ended at `last` with a taken branch
  u64 predicted = 0, mispredicted = 0;  ///< of these; neither, where nothing was recorded of it
  bool is_target = false;               ///< a line began at `first`
  bool is_branch = false;               ///< a line ended at `last`
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

/// Executed straight lines, cut into ranges that do not overlap: docs/annotate.md.
///
///   BlockRanges ranges;
///   ranges.add({.first = 0x10, .last = 0x30, .executions = 3, .predicted = 2});
///   ranges.add({.first = 0x20, .last = 0x30, .executions = 1, .predicted = 1});
///   ranges.find(0x25)->coverage;   // 4: the first line was split at 0x20
///
/// A range that is split keeps its coverage on both sides, its entries at the piece with the beginning, and
/// its taken branches at the piece with the end. Hence where lines begin and where they end says it all: the
/// coverage of an address is the number of lines begun up to it less those ended before it. Adding a line
/// notes its two ends, whatever lies between; notes of the same address are added up in sorted batches, and
/// the ranges are laid out on demand. Memory grows with distinct ends, not with lines.
class BlockRanges {
 public:
  struct Line {
    u64 first = 0, last = 0;
    u64 executions = 1;
    u64 predicted = 0, mispredicted = 0;  ///< executions whose branch at `last` was
  };
  /// Lines that run backwards are ignored.
  void add(const Line& line);

  /// By address.
  const std::vector<BlockRange>& ranges() const;
  /// nullptr where nothing was executed.
  const BlockRange* find(u64 address) const;
  /// The most executions of an address in [start, end).
  u64 max_coverage(u64 start, u64 end) const;
  /// Executions of the first branch at or behind `range`, one of ranges(): what joined there runs into it.
  u64 coverage_of_next_branch(const BlockRange& range) const;

 private:
  /// What was noted at an address: the first of lines, or their last.
  struct Ends {
    u64 address = 0, lines = 0, predicted = 0, mispredicted = 0;
  };
  /// Notes, those in front sorted and added up.
  struct Notes {
    std::vector<Ends> ends;
    std::size_t settled = 0;
    void add(const Ends& note);
    void settle();
  };
  void lay_out() const;

  mutable Notes begun_, ended_;
  mutable std::vector<BlockRange> ranges_;
  mutable bool is_laid_out_ = true;
};

}  // namespace pmusim::annotate

#endif
