// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_SPLIT_MIX_H
#define PMUSIM_BASE_SPLIT_MIX_H

#include "pmusim/base/types.h"

namespace pmusim {

/// A sequence that is the same everywhere (SplitMix64).
class SplitMix {
 public:
  explicit SplitMix(u64 seed) : state_(seed) {}
  u64 next() {
    u64 z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// 0 to `limit` - 1.
  u64 below(u64 limit) { return next() % limit; }

 private:
  u64 state_;
};

}  // namespace pmusim

#endif
