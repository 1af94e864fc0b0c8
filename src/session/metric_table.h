// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_METRIC_TABLE_H
#define PMUSIM_SRC_SESSION_METRIC_TABLE_H

#include <span>
#include <string_view>

namespace pmusim {

/// A metric as a formula over events, terms and other metrics. Of several rows with one name each model has
/// the first that it has all events for.
struct FormulaMetric {
  std::string_view name;
  unsigned level = 0;       ///< in the top-down tree: 3 is a child of level 2; 0: not in it
  std::string_view parent;  ///< of a node; the group of another metric
  std::string_view formula;
  std::string_view meaning;
  std::string_view needs{};  ///< an event that the model must have beside those of the formula
};
std::span<const FormulaMetric> formula_metrics();

/// What several formulas have in common. As with metrics, each model has the first row that it can count.
struct FormulaTerm {
  std::string_view name, formula;
};
std::span<const FormulaTerm> formula_terms();

}  // namespace pmusim

#endif
