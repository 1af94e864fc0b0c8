// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_BUSY_SPAN_H
#define PMUSIM_CORE_BUSY_SPAN_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

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

/// The same of the cycles in which at least so many are under way.
template <std::size_t at_least>
class CrowdedSpan {
 public:
  u32 cover(u64 begin, u64 end) {
    if (end > ends_.front()) ends_.front() = end;
    for (std::size_t n = 1; n < at_least && ends_[n] < ends_[n - 1]; ++n) std::swap(ends_[n], ends_[n - 1]);
    return ends_.front() > begin ? crowded_.cover(begin, ends_.front()) : 0;
  }

 private:
  std::array<u64, at_least> ends_{};  // of the latest ones, the first of them in front
  BusySpan crowded_;
};

}  // namespace pmusim

#endif
