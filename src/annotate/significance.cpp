// SPDX-License-Identifier: MIT
#include "annotate/significance.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace pmusim::annotate {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of_mean(std::span<const double> values) {
  const double mean = mean_of(values), count = static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (count - 1) / count;
}

std::optional<double> chance_of_difference(std::span<const double> before, std::span<const double> after) {
  if (before.size() < 2 || after.size() < 2) return std::nullopt;
  const double apart = std::abs(mean_of(before) - mean_of(after));
  const double a = variance_of_mean(before), b = variance_of_mean(after), both = a + b;
  if (both == 0) return apart == 0 ? 1 : 0;
  const double degrees =
      both * both /
      (a * a / static_cast<double>(before.size() - 1) + b * b / static_cast<double>(after.size() - 1));
  const boost::math::students_t distribution(degrees);
  return 2 * boost::math::cdf(boost::math::complement(distribution, apart / std::sqrt(both)));
}

}  // namespace pmusim::annotate
