// SPDX-License-Identifier: MIT
#include "session/metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>

#include "base/suggest.h"
#include "session/countable_events.h"
#include "session/metric_formula.h"
#include "session/metric_table.h"

namespace pmusim {

namespace {

using Names = std::vector<std::string_view>;

std::vector<Metric> make_metrics() {
  const Names topdown{"topdown-retiring", "topdown-bad-spec", "topdown-fe-bound", "topdown-be-bound"};
  constexpr std::string_view retiring = "slots whose operation retired",
                             bad_speculation = "slots lost to wrong predictions",
                             front_end = "slots for which the front end had nothing",
                             back_end = "slots that the back end could not take";
  const auto per_kilo = [](std::string_view name, std::string_view event, std::string_view meaning) {
    return Metric{name, "mpki", {event}, {"instructions"}, 1000, "per 1000 insn", meaning};
  };
  const auto share = [&](std::string_view unit, std::string_view event, std::string_view meaning) {
    Metric metric{unit.substr(3), "TopdownL1", {event}, topdown, 100, unit, meaning};
    metric.level = 1;
    return metric;
  };
  // From slots and what became of them, where there are no shares: what perf's --topdown made of them.
  const auto of_slots = [&](std::string_view unit, Names over, Names less, std::string_view meaning) {
    Metric metric{unit.substr(3), "TopdownL1", std::move(over), {"topdown-total-slots"}, 100, unit, meaning};
    metric.subtracted = std::move(less);
    metric.level = 1;
    return metric;
  };
  // Level 2 divides each share of level 1 in two.
  const auto part = [&](std::string_view unit, std::string_view parent, std::string_view event,
                        std::string_view meaning) {
    Metric metric{unit.substr(3), "TopdownL2", {event}, topdown, 100, unit, meaning};
    metric.level = 2;
    metric.parent = parent;
    return metric;
  };
  const auto rest = [&](std::string_view unit, std::string_view parent, std::string_view whole,
                        std::string_view other, std::string_view meaning) {
    Metric metric = part(unit, parent, whole, meaning);
    metric.subtracted = {other};
    return metric;
  };
  return {
      {"insn_per_cycle",
       "basic",
       {"instructions"},
       {"cycles"},
       1,
       "insn per cycle",
       "instructions retired per cycle",
       true},
      {"cycles_per_insn",
       "basic",
       {"cycles"},
       {"instructions"},
       1,
       "cycles per insn",
       "cycles per instruction retired"},
      {"branch_miss_rate",
       "basic",
       {"branch-misses"},
       {"branches"},
       100,
       "% of all branches",
       "branches predicted wrongly",
       true},
      {"cache_miss_rate",
       "basic",
       {"cache-misses"},
       {"cache-references"},
       100,
       "% of all cache refs",
       "references that the last cache did not have",
       true},
      {"l1d_miss_rate",
       "cache",
       {"L1-dcache-load-misses"},
       {"L1-dcache-loads"},
       100,
       "% of all L1-dcache accesses",
       "loads that the first cache did not have",
       true},
      {"llc_miss_rate",
       "cache",
       {"LLC-load-misses"},
       {"LLC-loads"},
       100,
       "% of all LL-cache accesses",
       "loads that the last cache did not have",
       true},
      {"dtlb_miss_rate",
       "cache",
       {"dTLB-load-misses"},
       {"dTLB-loads"},
       100,
       "% of all dTLB cache accesses",
       "loads that no data TLB had",
       true},
      per_kilo("branch_mpki", "branch-misses", "wrongly predicted branches per 1000 instructions"),
      per_kilo("l1d_mpki", "L1-dcache-load-misses", "first-cache misses per 1000 instructions"),
      per_kilo("llc_mpki", "cache-misses", "last-cache misses per 1000 instructions"),
      share("%  tma_retiring", "topdown-retiring", retiring),
      share("%  tma_bad_speculation", "topdown-bad-spec", bad_speculation),
      share("%  tma_frontend_bound", "topdown-fe-bound", front_end),
      share("%  tma_backend_bound", "topdown-be-bound", back_end),
      of_slots("%  tma_retiring", {"topdown-slots-retired"}, {}, retiring),
      of_slots("%  tma_bad_speculation", {"topdown-slots-issued", "topdown-recovery-bubbles"},
               {"topdown-slots-retired"}, bad_speculation),
      of_slots("%  tma_bad_speculation", {"topdown-slots-issued"}, {"topdown-slots-retired"},
               bad_speculation),
      of_slots("%  tma_frontend_bound", {"topdown-fetch-bubbles"}, {}, front_end),
      of_slots("%  tma_backend_bound", {"topdown-total-slots"},
               {"topdown-fetch-bubbles", "topdown-slots-issued", "topdown-recovery-bubbles"}, back_end),
      of_slots("%  tma_backend_bound", {"topdown-total-slots"},
               {"topdown-fetch-bubbles", "topdown-slots-issued"}, back_end),
      part("%  tma_heavy_operations", "tma_retiring", "topdown-heavy-ops",
           "of retiring: operations of several uops"),
      rest("%  tma_light_operations", "tma_retiring", "topdown-retiring", "topdown-heavy-ops",
           "of retiring: other operations"),
      part("%  tma_branch_mispredicts", "tma_bad_speculation", "topdown-br-mispredict",
           "of bad speculation: wrong branches"),
      rest("%  tma_machine_clears", "tma_bad_speculation", "topdown-bad-spec", "topdown-br-mispredict",
           "of bad speculation: clears of the pipeline"),
      part("%  tma_fetch_latency", "tma_frontend_bound", "topdown-fetch-lat",
           "of front end: nothing was delivered"),
      rest("%  tma_fetch_bandwidth", "tma_frontend_bound", "topdown-fe-bound", "topdown-fetch-lat",
           "of front end: too little was delivered"),
      part("%  tma_memory_bound", "tma_backend_bound", "topdown-mem-bound",
           "of back end: waiting for memory"),
      rest("%  tma_core_bound", "tma_backend_bound", "topdown-be-bound", "topdown-mem-bound",
           "of back end: waiting for execution"),
  };
}

constexpr std::array level_groups{"TopdownL1", "TopdownL2", "TopdownL3",
                                  "TopdownL4", "TopdownL5", "TopdownL6"};

Metric metric_of(const FormulaMetric& row, std::string_view unit) {
  Metric metric{row.name, row.level == 0 ? row.parent : level_groups[row.level - 1], {}, {}};
  metric.scale = row.level == 0 ? 1 : 100;
  metric.unit = unit;
  metric.meaning = row.meaning;
  metric.formula = row.formula;
  metric.level = row.level;
  if (row.level != 0) metric.parent = row.parent;
  metric.needs = row.needs;
  return metric;
}

/// The table's rows behind those above: of one name they come after these.
void append_formulas(std::vector<Metric>& to) {
  static const std::deque<std::string> units = [] {
    std::deque<std::string> all;
    for (const FormulaMetric& row : formula_metrics())
      all.push_back(fmt::format("{}{}", row.level == 0 ? "" : "%  ", row.name));
    return all;
  }();
  auto unit = units.begin();
  for (const FormulaMetric& row : formula_metrics()) to.push_back(metric_of(row, *unit++));
}

bool is_in_group(const Metric& metric, std::string_view group) {
  if (metric.group == group) return true;
  if (metric.level == 0 || !group.ends_with("_group")) return false;
  const std::string_view stem = group.substr(0, group.size() - std::string_view("_group").size());
  return (!metric.parent.empty() && stem == metric.parent) || stem == fmt::format("tma_L{}", metric.level);
}

/// A count may have modifiers behind its name.
const EventTotal* find_total(std::string_view name, const std::vector<EventTotal>& totals) {
  const auto found = std::ranges::find_if(
      totals, [&](const EventTotal& total) { return total.name.substr(0, total.name.find(':')) == name; });
  return found == totals.end() || !found->counted_at_all() ? nullptr : &*found;
}

std::optional<double> sum(const Names& names, const std::vector<EventTotal>& totals) {
  double result = 0;
  for (const std::string_view name : names) {
    const EventTotal* const total = find_total(name, totals);
    if (total == nullptr) return std::nullopt;
    result += static_cast<double>(total->value());
  }
  return result;
}

/// What a name in a formula is worth: that of the first metric or term that has a value on the model.
std::optional<double> value_of_name(std::string_view name, const std::vector<EventTotal>& totals,
                                    const CpuModel& model) {
  const auto lookup = [&](std::string_view inner) { return value_of_name(inner, totals, model); };
  for (const Metric& metric : metrics())
    if (metric.name == name)
      if (const std::optional<double> value = metric_value(metric, totals, model))
        return *value / metric.scale;
  for (const FormulaTerm& term : formula_terms())
    if (term.name == name)
      if (const std::optional<double> value = formula_value(term.formula, lookup)) return value;
  const EventTotal* const total = find_total(name, totals);
  return total == nullptr ? std::nullopt : std::optional(static_cast<double>(total->value()));
}

}  // namespace

std::span<const Metric> metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> rows = make_metrics();
    append_formulas(rows);
    return rows;
  }();
  return all;
}

bool is_countable(const Metric& metric, const CpuModel& model) {
  return CountableEvents(model).of(metric).has_value();
}

Result<std::vector<const Metric*>, Error> find_metrics(std::string_view list, const CpuModel& model,
                                                       MissingEvents missing) {
  std::vector<const Metric*> found;
  CountableEvents countable(model);
  for (std::size_t at = 0; at <= list.size();) {
    const std::string_view part = list.substr(at, list.find(',', at) - at);
    const auto fits = [&](const Metric& metric) { return metric.name == part || is_in_group(metric, part); };
    if (std::ranges::none_of(metrics(), fits)) {
      Names names;
      for (const Metric& metric : metrics()) names.insert(names.end(), {metric.name, metric.group});
      return Failure(Error(fmt::format("unknown metric '{}'{}", part, did_you_mean(part, names))));
    }
    bool any = false;
    const auto add_where = [&](auto wanted) {
      for (const Metric& metric : metrics()) {
        if (!fits(metric) || !wanted(metric)) continue;
        any = true;
        if (std::ranges::find(found, metric.name, [](const Metric* m) { return m->name; }) == found.end())
          found.push_back(&metric);
      }
    };
    add_where([&](const Metric& metric) { return countable.of(metric).has_value(); });
    if (missing == MissingEvents::kept) add_where([](const Metric&) { return true; });
    if (!any && missing != MissingEvents::passed_over)
      return Failure(Error(fmt::format("{} cannot count the events of '{}'", model.title, part)));
    at += part.size() + 1;
  }
  return found;
}

std::string metric_events(const std::vector<const Metric*>& wanted, const CpuModel& model) {
  Names names, topdown;
  CountableEvents countable(model);
  for (const Metric* const metric : wanted) {
    Names events = countable.of(*metric).value_or(Names{});
    // What a list names and the model lacks is refused by its name.
    if (events.empty())
      for (const Names* const side : {&metric->numerator, &metric->subtracted, &metric->denominator})
        events.insert(events.end(), side->begin(), side->end());
    for (const std::string_view name : events) {
      Names& list = name.starts_with("topdown-") ? topdown : names;
      if (std::ranges::find(list, name) == list.end()) list.push_back(name);
    }
  }
  // Slots and what became of them may need more counters than there are: each is counted on its own.
  const bool apart = std::ranges::find(topdown, "topdown-total-slots") != topdown.end();
  // PERF_METRICS divides what SLOTS counts, and so follows it in its group.
  const bool has_leader = !topdown.empty() && !apart && model.metrics_levels != 0;
  if (has_leader) std::erase(names, "slots");
  const std::string text = fmt::format("{}", fmt::join(names, ","));
  if (topdown.empty()) return text;
  const std::string_view comma = text.empty() ? "" : ",";
  if (apart) return fmt::format("{}{}{}", text, comma, fmt::join(topdown, ","));
  return fmt::format("{}{}{{{}{}}}", text, comma, has_leader ? "slots," : "", fmt::join(topdown, ","));
}

std::optional<double> metric_value(const Metric& metric, const std::vector<EventTotal>& totals,
                                   const CpuModel& model) {
  if (!metric.formula.empty()) {
    if (!has_needed(metric, model)) return std::nullopt;
    const auto value = formula_value(
        metric.formula, [&](std::string_view name) { return value_of_name(name, totals, model); });
    return value ? std::optional(metric.scale * *value) : std::nullopt;
  }
  const std::optional<double> over = sum(metric.numerator, totals), under = sum(metric.denominator, totals);
  const std::optional<double> less = sum(metric.subtracted, totals);
  if (!over || !less || !under || *under == 0) return std::nullopt;
  return metric.scale * std::max(0.0, *over - *less) / *under;
}

}  // namespace pmusim
