// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_FILL_H
#define PMUSIM_CORE_FILL_H

#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// A line that is in a cache, or on its way there.
class Fill {
 public:
  Fill() = default;
  Fill(u64 ready_cycle, CacheLevel source, bool prefetched = false)
      : bits_(ready_cycle << 4 | u64{prefetched} << 3 | static_cast<u64>(source)) {}
  u64 ready_cycle() const { return bits_ >> 4; }
  CacheLevel source() const { return static_cast<CacheLevel>(bits_ & 7); }
  bool prefetched() const { return (bits_ & 8) != 0; }

 private:
  u64 bits_ = 0;
};

}  // namespace pmusim

#endif
