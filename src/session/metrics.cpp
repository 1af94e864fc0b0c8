// SPDX-License-Identifier: MIT
#include "session/metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "base/suggest.h"
#include "events/names.h"

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
    return Metric{unit.substr(3), "TopdownL1", {event}, topdown, 100, unit, meaning};
  };
  // From slots and what became of them, where there are no shares: what perf's --topdown made of them.
  const auto of_slots = [&](std::string_view unit, Names over, Names less, std::string_view meaning) {
    Metric metric{unit.substr(3), "TopdownL1", std::move(over), {"topdown-total-slots"}, 100, unit, meaning};
    metric.subtracted = std::move(less);
    return metric;
  };
  // Level 2 divides each share of level 1 in two.
  const auto part = [&](std::string_view unit, std::string_view event, std::string_view meaning) {
    return Metric{unit.substr(3), "TopdownL2", {event}, topdown, 100, unit, meaning};
  };
  const auto rest = [&](std::string_view unit, std::string_view whole, std::string_view other,
                        std::string_view meaning) {
    Metric metric{unit.substr(3), "TopdownL2", {whole}, topdown, 100, unit, meaning};
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
      part("%  tma_heavy_operations", "topdown-heavy-ops", "of retiring: operations of several uops"),
      rest("%  tma_light_operations", "topdown-retiring", "topdown-heavy-ops",
           "of retiring: other operations"),
      part("%  tma_branch_mispredicts", "topdown-br-mispredict", "of bad speculation: wrong branches"),
      rest("%  tma_machine_clears", "topdown-bad-spec", "topdown-br-mispredict",
           "of bad speculation: clears of the pipeline"),
      part("%  tma_fetch_latency", "topdown-fetch-lat", "of front end: nothing was delivered"),
      rest("%  tma_fetch_bandwidth", "topdown-fe-bound", "topdown-fetch-lat",
           "of front end: too little was delivered"),
      part("%  tma_memory_bound", "topdown-mem-bound", "of back end: waiting for memory"),
      rest("%  tma_core_bound", "topdown-be-bound", "topdown-mem-bound",
           "of back end: waiting for execution"),
  };
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

/// Of perf's other names every model has some count, or the event's refusal says why not.
bool is_countable(const Metric& metric, const CpuModel& model) {
  const auto exists = [&](std::string_view name) {
    return !name.starts_with("topdown-") || events::find_driver_event(model, name).has_value();
  };
  return std::ranges::all_of(metric.numerator, exists) && std::ranges::all_of(metric.subtracted, exists) &&
         std::ranges::all_of(metric.denominator, exists);
}

}  // namespace

std::span<const Metric> metrics() {
  static const std::vector<Metric> all = make_metrics();
  return all;
}

Result<std::vector<const Metric*>, Error> find_metrics(std::string_view list, const CpuModel& model,
                                                       MissingEvents missing) {
  std::vector<const Metric*> found;
  Names names;
  for (const Metric& metric : metrics()) names.insert(names.end(), {metric.name, metric.group});
  for (std::size_t at = 0; at <= list.size();) {
    const std::string_view part = list.substr(at, list.find(',', at) - at);
    if (std::ranges::find(names, part) == names.end())
      return Failure(Error(fmt::format("unknown metric '{}'{}", part, did_you_mean(part, names))));
    bool any = false;
    const auto add_where = [&](auto wanted) {
      for (const Metric& metric : metrics()) {
        if ((metric.name != part && metric.group != part) || !wanted(metric)) continue;
        any = true;
        if (std::ranges::find(found, metric.name, &Metric::name) == found.end()) found.push_back(&metric);
      }
    };
    add_where([&](const Metric& metric) { return is_countable(metric, model); });
    if (missing == MissingEvents::kept) add_where([](const Metric&) { return true; });
    if (!any) return Failure(Error(fmt::format("{} has no topdown events for '{}'", model.title, part)));
    at += part.size() + 1;
  }
  return found;
}

std::string metric_events(const std::vector<const Metric*>& wanted, const CpuModel& model) {
  Names names, topdown;
  for (const Metric* const metric : wanted)
    for (const Names* const side : {&metric->numerator, &metric->subtracted, &metric->denominator})
      for (const std::string_view name : *side) {
        Names& list = name.starts_with("topdown-") ? topdown : names;
        if (std::ranges::find(list, name) == list.end()) list.push_back(name);
      }
  std::string text = fmt::format("{}", fmt::join(names, ","));
  if (topdown.empty()) return text;
  // Slots and what became of them may need more counters than there are: each is counted on its own.
  if (std::ranges::find(topdown, "topdown-total-slots") != topdown.end())
    return fmt::format("{}{}{}", text, text.empty() ? "" : ",", fmt::join(topdown, ","));
  // PERF_METRICS divides what SLOTS counts, and so follows it in its group.
  const std::string_view leader = model.metrics_levels != 0 ? "slots," : "";
  return fmt::format("{}{}{{{}{}}}", text, text.empty() ? "" : ",", leader, fmt::join(topdown, ","));
}

std::optional<double> metric_value(const Metric& metric, const std::vector<EventTotal>& totals) {
  const std::optional<double> over = sum(metric.numerator, totals), under = sum(metric.denominator, totals);
  const std::optional<double> less = sum(metric.subtracted, totals);
  if (!over || !less || !under || *under == 0) return std::nullopt;
  return metric.scale * std::max(0.0, *over - *less) / *under;
}

}  // namespace pmusim
