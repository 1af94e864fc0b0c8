// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_GSHARE_H
#define PMUSIM_CORE_GSHARE_H

#include "core/bimodal.h"
#include "pmusim/base/types.h"

namespace pmusim {

/// Direction predictor "gshare": two-bit counters indexed by the branch address exclusive-or the outcomes of
/// the last conditional branches (McFarling 1993). Sees correlation, but random outcomes in the history
/// scatter every branch over many counters.
class Gshare {
 public:
  /// What it predicts for the conditional branch at `ip`; then it learns the outcome.
  bool train(u64 ip, bool taken) {
    const u64 index = (branch_hash(ip) >> (64 - index_bits)) ^ (history_ & low_bits(history_bits));
    TwoBitCounter& counter = counters_[index];
    const bool predicted = counter.taken();
    counter.learn(taken);
    history_ = history_ << 1 | u64{taken};
    return predicted;
  }

 private:
  static constexpr unsigned index_bits = 13, history_bits = 10;
  std::vector<TwoBitCounter> counters_ = std::vector<TwoBitCounter>(1u << index_bits);
  u64 history_ = 0;
};

}  // namespace pmusim

#endif
