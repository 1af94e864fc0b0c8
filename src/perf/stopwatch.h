// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_STOPWATCH_H
#define PMUSIM_SRC_PERF_STOPWATCH_H

#include "pmusim/base/types.h"

namespace pmusim::perf {

/// How long (ns) something has been on a CPU so far.
class Stopwatch {
 public:
  u64 time() const { return clock_ != nullptr ? time_ + (*clock_ - since_) : time_; }
  bool runs() const { return clock_ != nullptr; }
  /// `clock`: perf time of the CPU, until stop().
  void start(const u64& clock) {
    since_ = clock;
    clock_ = &clock;
  }
  void stop() {
    time_ = time();
    clock_ = nullptr;
  }

 private:
  u64 time_ = 0, since_ = 0;
  const u64* clock_ = nullptr;
};

}  // namespace pmusim::perf

#endif
