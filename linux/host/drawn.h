// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_DRAWN_H
#define PMUSIM_LINUX_HOST_DRAWN_H

#include "base/split_mix.h"
#include "host/outcome.h"

namespace pmusim::linux_driver {

/// What set-ups and records are drawn by.
class Drawing : public SplitMix {
 public:
  using SplitMix::SplitMix;
  /// So many times of a hundred.
  bool chance(u64 percent) { return below(100) < percent; }
};

/// A set-up around a group with auto counter reload, "acr-drawn-NUMBER". Seed and number determine it.
Setup drawn_reload_setup(u64 seed, u64 number);

}  // namespace pmusim::linux_driver

#endif
