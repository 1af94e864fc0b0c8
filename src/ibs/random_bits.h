// SPDX-License-Identifier: MIT
#ifndef PMUSIM_IBS_RANDOM_BITS_H
#define PMUSIM_IBS_RANDOM_BITS_H

#include "pmusim/base/types.h"

namespace pmusim {

/// Where IBS has its random bits from: a linear feedback shift register of 32 bits (taps 32, 22, 2, 1), as
/// hardware would have one. What generator silicon has is not published.
class RandomBits {
 public:
  u64 draw(unsigned count) {
    u64 drawn = 0;
    for (unsigned n = 0; n < count; ++n) drawn = drawn << 1 | step();
    return drawn;
  }
  u32 state() const { return state_; }

 private:
  u32 step() {
    const u32 in = (state_ ^ state_ >> 10 ^ state_ >> 30 ^ state_ >> 31) & 1;
    state_ = state_ >> 1 | in << 31;
    return in;
  }
  u32 state_ = 0xACE1'2025;
};

}  // namespace pmusim

#endif
