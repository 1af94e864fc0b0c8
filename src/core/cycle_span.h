// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_CYCLE_SPAN_H
#define PMUSIM_SRC_CORE_CYCLE_SPAN_H

#include <algorithm>

#include "pmusim/base/types.h"

namespace pmusim {

/// The cycles from `begin` to before `end`; none if that is not later.
struct CycleSpan {
  u64 begin = 0, end = 0;

  bool empty() const { return begin >= end; }
  /// Those among the 64 from 64 * word on, a bit for each.
  u64 in_word(u64 word) const {
    const u64 first = word * 64;
    const u64 from = std::max(begin, first), until = std::min(end, first + 64);
    if (from >= until) return 0;
    return low_bits(static_cast<unsigned>(until - first)) & ~low_bits(static_cast<unsigned>(from - first));
  }
};

}  // namespace pmusim

#endif
