// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_SIGNIFICANCE_H
#define PMUSIM_SRC_ANNOTATE_SIGNIFICANCE_H

#include <optional>
#include <span>

namespace pmusim::annotate {

double mean_of(std::span<const double> values);
/// Square of the standard error of the mean of two values or more.
double variance_of_mean(std::span<const double> values);

/// How likely runs that do not differ would have means as far apart as these, or farther: Welch's t-test,
/// two-sided, 0 to 1. Runs that do not vary at all differ for certain (0) or are the same (1). Nothing where
/// a side has fewer than two runs, which say nothing of their spread.
std::optional<double> chance_of_difference(std::span<const double> before, std::span<const double> after);

}  // namespace pmusim::annotate

#endif
