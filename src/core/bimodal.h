// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_BIMODAL_H
#define PMUSIM_CORE_BIMODAL_H

#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {

/// Two-bit saturating counter: 0 and 1 say not taken, 2 and 3 taken.
class TwoBitCounter {
 public:
  bool taken() const { return value_ >= 2; }
  void learn(bool taken) {
    if (taken && value_ < 3) ++value_;
    if (!taken && value_ > 0) --value_;
  }

 private:
  u8 value_ = 1;
};

/// Spreads an address, with or without history, over all bits (Fibonacci hashing); take the upper ones.
constexpr u64 branch_hash(u64 value) { return value * 0x9E3779B97F4A7C15; }

/// Direction predictor "bimodal": one two-bit counter per branch address (Smith 1981). Learns the bias of a
/// branch and nothing else; the yardstick for the others.
class Bimodal {
 public:
  /// What it predicts for the conditional branch at `ip`; then it learns the outcome.
  bool train(u64 ip, bool taken) {
    const bool predicted = predict(ip);
    counters_[index(ip)].learn(taken);
    return predicted;
  }
  bool predict(u64 ip) const { return counters_[index(ip)].taken(); }

 private:
  static std::size_t index(u64 ip) { return branch_hash(ip) >> (64 - index_bits); }
  static constexpr unsigned index_bits = 12;
  std::vector<TwoBitCounter> counters_ = std::vector<TwoBitCounter>(1u << index_bits);
};

}  // namespace pmusim

#endif
