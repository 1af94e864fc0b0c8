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
  /// Names of models, and of events: the model must be one of these or have one of those.
  std::string_view needs{};
};
/// All of them: nodes of the tree, ratios beside it, what small cores have, and other names.
std::span<const FormulaMetric> formula_metrics();
std::span<const FormulaMetric> tree_metrics();
std::span<const FormulaMetric> ratio_metrics();
std::span<const FormulaMetric> small_core_metrics();
std::span<const FormulaMetric> renamed_metrics();

/// What several formulas have in common. As with metrics, each model has the first row that it can count.
struct FormulaTerm {
  std::string_view name, formula;
};
std::span<const FormulaTerm> formula_terms();

}  // namespace pmusim

#endif
