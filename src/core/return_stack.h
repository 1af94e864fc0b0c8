// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_RETURN_STACK_H
#define PMUSIM_CORE_RETURN_STACK_H

#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {

/// Return stack buffer: a ring of return addresses. A call chain deeper than the ring overwrites the oldest
/// ones, and those returns are then mispredicted. One per core, not per thread.
class ReturnStack {
 public:
  /// `entries` at least 1.
  explicit ReturnStack(unsigned entries) : ring_(entries) {}

  void call(u64 return_address) {
    top_ = top_ + 1 == ring_.size() ? 0 : top_ + 1;
    ring_[top_] = return_address;
  }
  /// The predicted target of a return.
  u64 ret() {
    const u64 predicted = ring_[top_];
    top_ = top_ == 0 ? ring_.size() - 1 : top_ - 1;
    return predicted;
  }

 private:
  std::vector<u64> ring_;
  std::size_t top_ = 0;
};

}  // namespace pmusim

#endif
