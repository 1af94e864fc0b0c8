// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_METRICS_H
#define PMUSIM_SRC_SESSION_METRICS_H

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pmusim/session/stat.h"

namespace pmusim {

/// A figure that follows from counts: `scale` times the sum of the numerator, less what is subtracted, over
/// the sum of the denominator.
struct Metric {
  std::string_view name;  ///< as -M takes it; of several with one name, each model has the first that it can
  /// -M takes this too, and for nodes of the top-down tree tma_LN_group with the level and PARENT_group.
  std::string_view group;
  std::vector<std::string_view> numerator;  ///< names of events; the first one's line shows the metric
  std::vector<std::string_view> denominator;
  double scale = 1;
  std::string_view unit{};  ///< what is printed behind the value
  std::string_view meaning{};
  bool by_itself = false;  ///< shown wherever its events are counted, without being asked for
  std::vector<std::string_view> subtracted{};
  /// In place of numerator and denominator: a formula over events, terms and metrics (metric_table.h), of
  /// which `numerator` is the first event.
  std::string_view formula{};
  unsigned level = 0;         ///< in the top-down tree; 0: not in it
  std::string_view parent{};  ///< in the tree
  std::string_view needs{};   ///< as FormulaMetric has it
};

std::span<const Metric> metrics();

/// What becomes of a metric that the model has no events for: its name is an error, it is among the others
/// and has no value, or it is left out.
enum class MissingEvents { refused, kept, passed_over };

/// The metrics of a list of names and groups, each from events that the model has. Errors name what is
/// unknown, with near matches, or what the model has no events for.
Result<std::vector<const Metric*>, Error> find_metrics(std::string_view list, const CpuModel& model,
                                                       MissingEvents missing = MissingEvents::refused);

/// The event list that metrics need; on models that count shares of SLOTS, in a group with that as leader.
std::string metric_events(const std::vector<const Metric*>& wanted, const CpuModel& model);

/// Nothing where an event was not counted, or something is divided by 0.
std::optional<double> metric_value(const Metric& metric, const std::vector<EventTotal>& totals,
                                   const CpuModel& model);

/// Whether the model can count all events of a metric.
bool is_countable(const Metric& metric, const CpuModel& model);

}  // namespace pmusim

#endif
