// SPDX-License-Identifier: MIT
#include "stat_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "annotate/significance.h"
#include "events/modifiers.h"
#include "quantity.h"
#include "session/metric_thresholds.h"

namespace pmusim::tools {

namespace {

bool is_clock(const std::string& name) {
  return name.starts_with("task-clock") || name.starts_with("cpu-clock");
}

/// Without modifiers.
std::string_view name_of(const EventTotal& total) {
  return std::string_view(total.name).substr(0, total.name.find(':'));
}

bool is_wanted(const Metric& metric, const StatResult& result) {
  return metric.by_itself || std::ranges::find(result.metrics, &metric) != result.metrics.end();
}

/// A formula has no first event of its own: it stands with the last of all.
bool stands_at(const Metric& metric, std::string_view event, const std::vector<EventTotal>& totals) {
  if (metric.formula.empty()) return metric.numerator.front() == event;
  return name_of(totals.back()) == event;
}

std::optional<bool> threshold_of(const Metric& metric, double value, const std::vector<EventTotal>& totals,
                                 const StatResult& result) {
  if (result.command->no_threshold) return std::nullopt;
  return stands_out(metric, value, totals, *result.model);
}

std::vector<StatRow::Figure> figures_of(std::string_view event, const std::vector<EventTotal>& totals,
                                        const StatResult& result) {
  std::vector<StatRow::Figure> figures;
  for (const Metric& metric : metrics())
    if (is_wanted(metric, result) && stands_at(metric, event, totals))
      if (const std::optional<double> value = metric_value(metric, totals, *result.model))
        figures.push_back({*value, &metric, threshold_of(metric, *value, totals, result)});
  return figures;
}

/// The rings that an event's modifiers name; empty: all.
std::string rings_of(const EventTotal& total) {
  std::string rings;
  const std::size_t behind = total.name.find_last_of(":/");
  if (behind == std::string::npos) return rings;
  const std::string_view modifiers = std::string_view(total.name).substr(behind + 1);
  if (!events::looks_like_modifiers(modifiers)) return rings;
  for (const char ring : {'u', 'k'})
    if (modifiers.find(ring) != std::string_view::npos) rings += ring;
  return rings;
}

/// Figures compare what the same tasks did at the same rings.
std::vector<EventTotal> comparable_with(const EventTotal& total, std::vector<EventTotal> totals) {
  std::erase_if(totals, [&](const EventTotal& other) {
    return other.cgroup != total.cgroup || rings_of(other) != rings_of(total);
  });
  return totals;
}

/// Standard error of the mean, in percent of it.
double deviation_percent(const std::vector<double>& values, double mean) {
  return mean == 0 ? 0 : 100 * std::sqrt(annotate::variance_of_mean(values)) / mean;
}

/// Of an estimate of 0 there is none: where an event has not been seen nothing is known of it.
std::optional<double> interval_percent(const Estimate& estimate) {
  if (estimate.value == 0) return std::nullopt;
  return 100 * static_cast<double>(estimate.half_width) / static_cast<double>(estimate.value);
}

/// The first run's rows with the mean of all. Every run has the same, since all are of one machine.
std::vector<StatRow> mean_rows(const StatResult& result) {
  std::vector<std::vector<StatRow>> runs;
  for (const StatReport& run : result.runs) runs.push_back(rows_of(run.events, run.cpus, result));
  std::vector<StatRow> rows = runs.front();
  if (runs.size() < 2) return rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> values;
    for (const std::vector<StatRow>& run : runs) values.push_back(run[i].value);
    rows[i].value = annotate::mean_of(values);
    rows[i].deviation_percent = deviation_percent(values, rows[i].value);
  }
  return rows;
}

bool is_chosen(const ThreadTotals& thread, const StatCommand& command) {
  const auto has = [](const std::string& list, std::string_view option, u32 id) {
    if (list.empty()) return false;
    const std::vector<u32> ids = number_list(option, list);
    return std::ranges::find(ids, id) != ids.end();
  };
  return !chooses_tasks(command) || has(command.processes, "-p", thread.pid) ||
         has(command.threads, "-t", thread.tid);
}

std::vector<StatRow> thread_rows(const StatResult& result) {
  std::vector<StatRow> rows;
  for (const ThreadTotals& thread : result.runs.front().threads) {
    if (!is_chosen(thread, *result.command)) continue;
    for (StatRow& row : rows_of(thread.events, result)) {
      row.owner = fmt::format("{}-{}", thread.command, thread.tid);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

void add(std::vector<EventTotal>& sums, const std::vector<EventTotal>& more) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].counted += more[i].counted;
    sums[i].enabled_ns += more[i].enabled_ns;
    sums[i].running_ns += more[i].running_ns;
  }
}

/// -p, -t: the threads chosen, together.
std::vector<StatRow> chosen_rows(const StatResult& result) {
  std::vector<EventTotal> sums;
  for (const ThreadTotals& thread : result.runs.front().threads) {
    if (!is_chosen(thread, *result.command)) continue;
    if (sums.empty())
      sums = thread.events;
    else
      add(sums, thread.events);
  }
  if (sums.empty()) sums = result.runs.front().events;  // to say that none of them was counted
  if (std::ranges::none_of(result.runs.front().threads,
                           [&](const ThreadTotals& t) { return is_chosen(t, *result.command); }))
    for (EventTotal& sum : sums) sum.counted = sum.running_ns = 0;
  return rows_of(sums, result);
}

StatRow::Place place_of(u32 number, const StatResult& result) {
  const LogicalCpu cpu = result.machine != nullptr ? result.machine->cpus[number] : LogicalCpu{};
  switch (result.command->aggregation()) {
    case Aggregation::core:
      return {"core", fmt::format("S{}-D{}-C{}", cpu.package, cpu.die, cpu.core)};
    case Aggregation::die:
      return {"die", fmt::format("S{}-D{}", cpu.package, cpu.die)};
    case Aggregation::socket:
      return {"socket", fmt::format("S{}", cpu.package)};
    default:
      return {"cpu", fmt::format("{}", number)};
  }
}

/// Event by event, each with all places where it counts, in the order of the CPUs.
std::vector<StatRow> place_rows(std::size_t events, const std::vector<CpuTotals>& cpus,
                                const StatResult& result) {
  struct Sum {
    StatRow::Place place;
    std::vector<EventTotal> totals;
  };
  std::vector<StatRow> rows;
  for (std::size_t event = 0; event < events; ++event) {
    std::vector<Sum> sums;
    for (const CpuTotals& cpu : cpus) {
      if (cpu.events[event].elsewhere) continue;
      StatRow::Place place = place_of(cpu.cpu, result);
      const auto known =
          std::ranges::find_if(sums, [&](const Sum& sum) { return sum.place.name == place.name; });
      if (known == sums.end()) {
        sums.push_back({std::move(place), cpu.events});
      } else {
        add(known->totals, cpu.events);
        ++known->place.cpus;
      }
    }
    for (const Sum& sum : sums) {
      StatRow row = rows_of(sum.totals, result)[event];
      row.place = sum.place;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace

std::vector<StatRow> rows_of(const std::vector<EventTotal>& totals, const StatResult& result) {
  std::vector<StatRow> rows;
  for (const EventTotal& total : totals) {
    StatRow row{.event = total.name,
                .cgroup = total.cgroup,
                .supported = total.supported,
                .counted = total.counted_at_all()};
    row.in_ms = is_clock(total.name);
    row.value = static_cast<double>(total.value()) / (row.in_ms ? 1e6 : 1);
    row.running_ns = total.running_ns;
    if (total.estimate) row.interval_percent = interval_percent(*total.estimate);
    if (total.enabled_ns != 0)
      row.running_percent =
          100.0 * static_cast<double>(total.running_ns) / static_cast<double>(total.enabled_ns);
    if (row.counted) row.figures = figures_of(name_of(total), comparable_with(total, totals), result);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<StatRow> rows_of(const std::vector<EventTotal>& totals, const std::vector<CpuTotals>& cpus,
                             const StatResult& result) {
  if (cpus.empty() || result.command->aggregation() == Aggregation::all) return rows_of(totals, result);
  return place_rows(totals.size(), cpus, result);
}

std::vector<StatRow> final_rows(const StatResult& result) {
  if (result.command->per_thread) return thread_rows(result);
  return chooses_tasks(*result.command) ? chosen_rows(result) : mean_rows(result);
}

std::string value_text(const StatRow& row, bool thousands) {
  if (!row.supported) return "<not supported>";
  if (!row.counted) return "<not counted>";
  if (row.in_ms) return fmt::format("{:.2f}", row.value);
  const auto whole = static_cast<u64>(std::llround(row.value));
  return thousands ? fmt::format("{}", fmt::group_digits(whole)) : fmt::format("{}", whole);
}

}  // namespace pmusim::tools
