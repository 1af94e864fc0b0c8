// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_REUSE_H
#define PMUSIM_SRC_WHY_REUSE_H

#include <unordered_map>
#include <vector>

#include "why/distribution.h"

namespace pmusim::why {

/// How many other lines were accessed between two accesses to a line: a fully associative cache of more
/// lines, which drops the least recently used one, hits (Mattson et al., "Evaluation techniques for storage
/// hierarchies"). And how many lines a stretch of the program needs.
///
/// Each line has a mark at its last access; a tree of sums over the marks counts those behind it. Time that
/// has passed is squeezed out when the tree is full, so memory grows with the lines and not with the
/// accesses.
class Reuse {
 public:
  void access(u64 line);
  /// The next stretch begins.
  void end_stretch();

  /// Of accesses to lines that were accessed before.
  const Distribution& distances() const { return distances_; }
  u64 lines() const { return last_.size(); }
  u64 accesses() const { return distances_.count() + lines(); }
  /// Lines of each stretch.
  const Distribution& stretches() const { return stretches_; }

 private:
  struct Last {
    u32 mark = 0, stretch = 0;
  };
  void add(u32 mark, u32 amount);
  u32 marks_up_to(u32 mark) const;
  void squeeze();

  std::unordered_map<u64, Last> last_;
  std::vector<u32> sums_ = std::vector<u32>(std::size_t{1} << 12);  // a binary indexed tree, from 1
  u32 now_ = 0, stretch_ = 1;
  u64 previous_ = ~u64{0}, lines_of_stretch_ = 0;
  Distribution distances_, stretches_;
};

}  // namespace pmusim::why

#endif
