// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_BUSY_SPAN_H
#define PMUSIM_CORE_BUSY_SPAN_H

#include <algorithm>

#include "pmusim/base/types.h"

namespace pmusim {

/// Counts the cycles in which something is under way, however many of it there are: spans that overlap
/// count once. They begin in about the order in which they are reported; what lies before the end of an
/// earlier one counts as having been covered by it.
class BusySpan {
 public:
  /// Whether nothing was under way in the cycle before `begin`.
  bool begins(u64 begin) const { return begin > end_; }
  /// Something is under way in the cycles from `begin` to before `end`: how many of them are new.
  u32 cover(u64 begin, u64 end) {
    if (end <= end_) return 0;
    const u64 added = end - std::max(begin, end_);
    end_ = end;
    return static_cast<u32>(added);
  }

 private:
  u64 end_ = 0;
};

}  // namespace pmusim

#endif
