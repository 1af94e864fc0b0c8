// SPDX-License-Identifier: MIT
#include "session/window_estimate.h"

#include <algorithm>
#include <cmath>

namespace pmusim {
namespace {

// Of the normal distribution, with 99 % between it and its negative.
constexpr double quantile = 2.5758293035489;

/// The same of Student's, by its expansion (Abramowitz and Stegun, 26.7.5), which is right to 1 % from four
/// degrees on.
double student_quantile(double degrees) {
  constexpr double z = quantile, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  const double inverse = 1 / degrees;
  return z + inverse * ((z3 + z) / 4 + inverse * ((5 * z5 + 16 * z3 + 3 * z) / 96 +
                                                  inverse * (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384));
}

}  // namespace

void WindowEstimate::add(u64 instructions, u64 occurrences) {
  const auto x = static_cast<double>(instructions), y = static_cast<double>(occurrences);
  ++windows_;
  instructions_ += instructions;
  occurrences_ += occurrences;
  instructions_squared_ += x * x;
  occurrences_squared_ += y * y;
  products_ += x * y;
}

Estimate WindowEstimate::of_program(u64 instructions) const {
  const auto n = static_cast<double>(windows_), seen = static_cast<double>(instructions_);
  const double ratio = static_cast<double>(occurrences_) / seen;
  const double total = static_cast<double>(instructions), unseen = std::max(0.0, 1 - seen / total);
  const double squares =
      std::max(0.0, occurrences_squared_ - 2 * ratio * products_ + ratio * ratio * instructions_squared_);
  const double deviation = std::sqrt(n / (n - 1) * squares * unseen) * total / seen;
  return {.value = static_cast<u64>(std::llround(ratio * total)),
          .half_width = static_cast<u64>(std::ceil(student_quantile(n - 1) * deviation)),
          .windows = windows_};
}

}  // namespace pmusim
