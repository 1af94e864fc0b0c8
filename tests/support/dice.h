// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_DICE_H
#define PMUSIM_TESTS_SUPPORT_DICE_H

#include <random>

#include "pmusim/base/types.h"

namespace pmusim {

/// What property tests draw by: the same for the same seed, on every machine.
class Dice {
 public:
  explicit Dice(u64 seed) : random_(seed) {}
  u64 below(u64 n) { return random_() % n; }
  bool one_in(u64 n) { return below(n) == 0; }
  u64 bits64() { return random_(); }

 private:
  std::mt19937_64 random_;
};

}  // namespace pmusim

#endif
