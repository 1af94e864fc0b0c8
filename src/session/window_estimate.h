// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_WINDOW_ESTIMATE_H
#define PMUSIM_SRC_SESSION_WINDOW_ESTIMATE_H

#include "pmusim/session/stat.h"

namespace pmusim {

/// How often an event occurs in a program of which windows are known: a ratio estimate, events to
/// instructions (W. Cochran, "Sampling Techniques", 2.11), with the interval of the normal distribution,
/// widened as Student's is where there are few windows.
class WindowEstimate {
 public:
  /// A window: its instructions, at least one, and the event's occurrences.
  void add(u64 instructions, u64 occurrences);
  u64 windows() const { return windows_; }
  static constexpr u64 fewest_windows = 5;
  /// Of a program of so many instructions, with that many windows at least.
  Estimate of_program(u64 instructions) const;

 private:
  u64 windows_ = 0, instructions_ = 0, occurrences_ = 0;
  double instructions_squared_ = 0, occurrences_squared_ = 0, products_ = 0;
};

}  // namespace pmusim

#endif
