// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_COUNTABLE_EVENTS_H
#define PMUSIM_SRC_SESSION_COUNTABLE_EVENTS_H

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/metrics.h"

namespace pmusim {

/// Whether the model is one of those that a metric's `needs` names, or has one of those events.
bool has_needed(const Metric& metric, const CpuModel& model);

/// Which events a model counts of what formulas name. Remembers what it was asked.
class CountableEvents {
 public:
  using Names = std::vector<std::string_view>;

  /// `model` must outlive it.
  explicit CountableEvents(const CpuModel& model) : model_(model) {}

  /// The events of a metric, each once, or nothing where one cannot be counted.
  const std::optional<Names>& of(const Metric& metric);
  /// Why not: the reason of the first event that the model has and cannot count. Empty: it has no such event,
  /// or the metric is another model's.
  std::string refusal_of(const Metric& metric);

 private:
  std::optional<Names> find(const Metric& metric);
  std::optional<Names> of_lists(const Metric& metric) const;
  std::optional<Names> of_formula(std::string_view formula);
  std::optional<Names> of_name(std::string_view name);
  const std::optional<std::string>& refusal_of_event(std::string_view event);
  std::string refusal_of_formula(std::string_view formula);

  const CpuModel& model_;
  std::map<const Metric*, std::optional<Names>> of_metrics_;
  std::map<std::string_view, std::optional<std::string>> refusals_;  // of events; empty: it counts
};

}  // namespace pmusim

#endif
