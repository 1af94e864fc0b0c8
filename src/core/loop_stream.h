// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_LOOP_STREAM_H
#define PMUSIM_CORE_LOOP_STREAM_H

#include "pmusim/cpu/model.h"

namespace pmusim {

/// The loop stream detector (LSD): a loop that is short enough stays in the queue before rename and comes
/// from there until it ends.
///
/// Sees loops without another taken branch in them, from their third iteration on.
class LoopStream {
 public:
  explicit LoopStream(const CoreParameters& p)
      : longest_uops_(p.loop_buffer_uops), unrolls_(p.loop_buffer_unrolls != 0) {}

  /// Whether the instruction at `ip` comes from the loop at hand.
  bool take(u64 ip, unsigned uops) { return take(ip, ip, uops); }
  /// The same of many that follow one another.
  bool take(u64 first, u64 last, unsigned uops) {
    uops_ += uops;
    if (streaming_ && (first < first_ || last > last_)) stop();
    return streaming_;
  }
  /// A near branch was taken.
  void follow(u64 branch, u64 target) {
    const bool again = branch == last_ && target == first_ && target <= branch && uops_ <= longest_uops_;
    iterations_ = again ? iterations_ + 1 : 0;
    streaming_ = iterations_ >= 2;
    first_ = target;
    last_ = branch;
    uops_ = 0;
  }
  /// The loop at hand is none that can stay: it has microcode, or was left by mistake.
  void stop() {
    streaming_ = false;
    iterations_ = 0;
    last_ = 0;
  }
  /// Whether an iteration may begin in the cycle in which the last one ends.
  bool unrolls() const { return streaming_ && unrolls_; }

 private:
  unsigned longest_uops_;
  bool unrolls_;
  u64 first_ = 0, last_ = 0;  // the loop: target and address of its branch
  unsigned uops_ = 0;         // of this iteration
  u64 iterations_ = 0;        // that were alike
  bool streaming_ = false;
};

}  // namespace pmusim

#endif
