// SPDX-License-Identifier: MIT
#include "driver/x86/period.h"

#include <algorithm>

namespace pmusim::driver {

NextInterval next_interval(perf::HardwareEvent& hw, u64 max_period) {
  const auto period = static_cast<i64>(hw.sample_period);
  NextInterval next{.left = hw.period_left};
  // What an interrupt's skid let pass is taken off the next period; whole periods of it are given up.
  if (next.left <= -period) {
    if (period != 0) next.passed_over = static_cast<u64>(-next.left / period);
    next.left = period;
    next.expired = true;
  } else if (next.left <= 0) {
    next.left += period;
    next.expired = true;
  }
  if (next.expired) {
    hw.period_left = next.left;
    hw.last_period = hw.sample_period;
  }
  next.left = std::clamp<i64>(next.left, 2, static_cast<i64>(max_period));
  return next;
}

}  // namespace pmusim::driver
