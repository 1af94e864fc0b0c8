// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_METRIC_FORMULA_H
#define PMUSIM_SRC_SESSION_METRIC_FORMULA_H

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace pmusim {

/// What a name in a formula stands for; nothing where it has no value.
using FormulaLookup = std::function<std::optional<double>(std::string_view name)>;

/// The value of a formula: numbers, names, + - * /, brackets, min(a, b), max(a, b), and
/// if_less(a, b, c, d), which is c where a < b and otherwise d. Names are of letters, digits, dots,
/// underscores and colons, and of dashes between two of these, so that a subtraction has spaces around it;
/// one in braces is what stands between them. Nothing where a name has no value, where something is divided
/// by 0, or where the text is no formula.
std::optional<double> formula_value(std::string_view formula, const FormulaLookup& lookup);

/// The names in a formula, each once, in the order in which they first stand in it.
std::vector<std::string_view> formula_names(std::string_view formula);

}  // namespace pmusim

#endif
