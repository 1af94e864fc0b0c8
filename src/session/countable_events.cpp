// SPDX-License-Identifier: MIT
#include "session/countable_events.h"

#include <algorithm>

#include "events/names.h"
#include "events/resolve.h"
#include "pmusim/events/parser.h"
#include "session/metric_formula.h"
#include "session/metric_table.h"

namespace pmusim {
namespace {

/// What a name in a formula stands for in tables, row by row: other formulas. None: it is an event.
std::vector<std::string_view> formulas_of(std::string_view name, const CpuModel& model) {
  std::vector<std::string_view> all;
  for (const Metric& metric : metrics())
    if (metric.name == name && has_needed(metric, model)) all.push_back(metric.formula);
  for (const FormulaTerm& term : formula_terms())
    if (term.name == name) all.push_back(term.formula);
  return all;
}

}  // namespace

bool has_needed(const Metric& metric, const CpuModel& model) {
  std::string_view left = metric.needs;
  while (!left.empty()) {
    const std::string_view word = left.substr(0, left.find(' '));
    if (word == model.name ||
        std::ranges::find(model.events, word, &EventDefinition::name) != model.events.end())
      return true;
    left.remove_prefix(std::min(left.size(), word.size() + 1));
  }
  return metric.needs.empty();
}

const std::optional<CountableEvents::Names>& CountableEvents::of(const Metric& metric) {
  const auto [at, is_new] = of_metrics_.try_emplace(&metric);
  if (is_new) at->second = find(metric);
  return at->second;
}

std::optional<CountableEvents::Names> CountableEvents::find(const Metric& metric) {
  if (metric.formula.empty()) return of_lists(metric);
  return has_needed(metric, model_) ? of_formula(metric.formula) : std::nullopt;
}

std::optional<CountableEvents::Names> CountableEvents::of_lists(const Metric& metric) const {
  Names all;
  for (const Names* const side : {&metric.numerator, &metric.subtracted, &metric.denominator})
    for (const std::string_view name : *side) {
      if (name.starts_with("topdown-") && !events::find_driver_event(model_, name)) return std::nullopt;
      all.push_back(name);
    }
  return all;
}

std::optional<CountableEvents::Names> CountableEvents::of_formula(std::string_view formula) {
  Names all;
  for (const std::string_view name : formula_names(formula)) {
    const std::optional<Names> events = of_name(name);
    if (!events) return std::nullopt;
    for (const std::string_view event : *events)
      if (std::ranges::find(all, event) == all.end()) all.push_back(event);
  }
  return all;
}

std::optional<CountableEvents::Names> CountableEvents::of_name(std::string_view name) {
  bool is_event = true;
  for (const Metric& metric : metrics()) {
    if (metric.name != name) continue;
    is_event = false;
    if (const std::optional<Names>& events = of(metric)) return events;
  }
  for (const FormulaTerm& term : formula_terms()) {
    if (term.name != name) continue;
    is_event = false;
    if (std::optional<Names> events = of_formula(term.formula)) return events;
  }
  return is_event && refusal_of_event(name) == "" ? std::optional(Names{name}) : std::nullopt;
}

std::string CountableEvents::refusal_of(const Metric& metric) {
  return has_needed(metric, model_) ? refusal_of_formula(metric.formula) : "";
}

std::string CountableEvents::refusal_of_formula(std::string_view formula) {
  for (const std::string_view name : formula_names(formula)) {
    const auto formulas = formulas_of(name, model_);
    std::string refusal = formulas.empty() ? refusal_of_event(name).value_or("") : "";
    for (const std::string_view inner : formulas)
      if (refusal.empty()) refusal = refusal_of_formula(inner);
    if (!refusal.empty()) return refusal;
  }
  return "";
}

/// Nothing: the model has no such event.
const std::optional<std::string>& CountableEvents::refusal_of_event(std::string_view event) {
  const auto [at, is_new] = refusals_.try_emplace(event);
  std::optional<std::string>& refusal = at->second;
  if (!is_new) return refusal;
  const auto groups = events::parse_events(std::string(event), model_);
  if (!groups.ok()) return refusal;
  refusal = "";
  const perf::Attr& attr = groups->front().events.front().attr;
  if (!events::is_pmu_event(attr)) return refusal;
  if (const auto resolved = events::resolve(model_, attr, {}); !resolved.ok())
    refusal = resolved.error().message;
  return refusal;
}

}  // namespace pmusim
