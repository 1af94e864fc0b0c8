// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_DRAWN_H
#define PMUSIM_LINUX_HOST_DRAWN_H

#include "host/outcome.h"

namespace pmusim::linux_driver {

/// A sequence that is the same everywhere (SplitMix64).
class Drawing {
 public:
  explicit Drawing(u64 seed) : state_(seed) {}
  u64 next() {
    u64 z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// 0 to `limit` - 1.
  u64 below(u64 limit) { return next() % limit; }
  /// So many times of a hundred.
  bool chance(u64 percent) { return below(100) < percent; }

 private:
  u64 state_;
};

/// A set-up around a group with auto counter reload, "acr-drawn-NUMBER". Seed and number determine it.
Setup drawn_reload_setup(u64 seed, u64 number);

}  // namespace pmusim::linux_driver

#endif
