// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "annotate/significance.h"
#include "base/printable.h"
#include "csv.h"
#include "interrupts.h"
#include "pmusim/cpu/core_parameters.h"
#include "stat_values.h"

namespace pmusim::tools {

namespace {

constexpr double nanoseconds_per_s = 1e9;

double seconds(u64 ns) { return static_cast<double>(ns) / nanoseconds_per_s; }

std::string_view unit_of(const StatRow& row) { return row.in_ms ? "msec" : ""; }

std::string without_trailing_spaces(std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line + "\n";
}

// --- for people

std::string figure_text(const StatRow::Figure& figure) {
  const std::string_view unit = figure.metric->unit;
  return fmt::format("{:8.2f}{}{}{}", figure.value, unit.starts_with("%") ? "" : "  ", unit,
                     figure.stands_out.value_or(false) ? " <==" : "");
}

std::size_t width_of(std::string_view kind_of_place) {
  if (kind_of_place == "core") return 15;
  return kind_of_place == "die" ? 12 : 6;
}

/// As perf has them: "CPU0", "S0-D0-C1" with the number of its CPUs.
std::string place_text(const StatRow::Place& place) {
  if (place.kind == "cpu") return fmt::format("CPU{:<7} ", place.name);
  return fmt::format("{:<{}} {:>4} ", place.name, width_of(place.kind), place.cpus);
}

/// What stands above that, where intervals have headings.
std::string place_heading(std::string_view kind) {
  if (kind == "cpu") return fmt::format("{:<10} ", kind);
  return fmt::format("{:<{}} {:>4} ", kind, width_of(kind), "cpus");
}

std::string text_line(const StatRow& row, std::string_view before) {
  std::string line = std::string(before);
  if (row.place) line += (before.empty() ? "" : " ") + place_text(*row.place);
  if (!row.owner.empty()) line += fmt::format("{:>20} ", printable(row.owner));
  line += fmt::format("{:>{}} {:<4} {:<28}", value_text(row, true), row.place ? 18 : 20, unit_of(row),
                      printable(row.cgroup.empty() ? row.event : row.event + " " + row.cgroup));
  if (!row.figures.empty()) line += fmt::format(" # {:<34}", figure_text(row.figures.front()));
  if (row.deviation_percent) line += fmt::format(" ( +-{:6.2f}% )", *row.deviation_percent);
  if (row.interval_percent) line += fmt::format(" ( +-{:6.2f}% )", *row.interval_percent);
  if (row.counted && row.running_percent < 100) line += fmt::format(" ({:.2f}%)", row.running_percent);
  line = without_trailing_spaces(std::move(line));
  for (std::size_t i = 1; i < row.figures.size(); ++i)
    line += without_trailing_spaces(
        fmt::format("{:{}} # {}", "", before.size() + 54, figure_text(row.figures[i])));
  return line;
}

std::string interval_heading(const std::vector<StatRow>& rows) {
  const bool by_place = !rows.empty() && rows.front().place;
  const std::string place = by_place ? " " + place_heading(rows.front().place->kind) : "";
  return fmt::format("#{:>15}{}{:>{}} {:<4} events\n", "time", place, "counts", by_place ? 18 : 21, "unit");
}

std::string headline(const StatResult& result) {
  const std::string machine = result.machine != nullptr ? result.machine->name : result.model->title;
  const std::string runs =
      result.command->repeat > 1 ? fmt::format(" ({} runs)", result.command->repeat) : std::string();
  return fmt::format("\n Performance counter stats for '{}' on {}{}:\n\n", printable(result.title), machine,
                     runs);
}

std::string closing_lines(const StatResult& result) {
  const StatReport& run = result.runs.front();
  std::string text = fmt::format("\n{:>20.9f} seconds of emulated time, {} instructions replayed\n",
                                 seconds(run.elapsed_ns), fmt::group_digits(run.instructions));
  if (run.replays > 1)
    text += fmt::format(
        "{:>20} replays: these events need more counters than the CPU has (--multiplex lets "
        "them take turns)\n",
        run.replays);
  const auto estimated =
      std::ranges::find_if(run.events, [](const auto& e) { return e.estimate.has_value(); });
  if (estimated != run.events.end())
    text += fmt::format(
        "{:>20} windows: what has +- is estimated from them, within that in 99 of 100 cases; what has none "
        "is "
        "exact\n",
        fmt::group_digits(estimated->estimate->windows));
  return text + partial_text(result) + "\n";
}

// --- for programs

std::string csv_line(const StatRow& row, std::string_view before, const std::string& separator) {
  const auto joined = [&](const std::vector<std::string>& cells) {
    return fmt::format("{}\n", fmt::join(cells, separator));
  };
  std::vector<std::string> cells;
  if (!before.empty()) cells.emplace_back(before);
  const auto name = [&](const std::string& text) { return csv_field(printable(text), separator); };
  if (!row.owner.empty()) cells.push_back(name(row.owner));
  if (row.place) {
    cells.push_back(row.place->kind == "cpu" ? "CPU" + row.place->name : row.place->name);
    if (row.place->kind != "cpu") cells.push_back(fmt::format("{}", row.place->cpus));
  }
  cells.insert(cells.end(), {value_text(row, false), std::string(unit_of(row)), name(row.event)});
  if (!row.cgroup.empty()) cells.push_back(name(row.cgroup));
  if (row.deviation_percent) cells.push_back(fmt::format("{:.2f}%", *row.deviation_percent));
  if (row.interval_percent) cells.push_back(fmt::format("{:.2f}%", *row.interval_percent));
  cells.insert(cells.end(), {fmt::format("{}", row.running_ns), fmt::format("{:.2f}", row.running_percent)});
  const std::size_t common = cells.size();
  std::string text;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, row.figures.size()); ++i) {
    cells.resize(common);
    if (i > 0) cells.assign(common, "");
    if (i < row.figures.size())
      cells.insert(cells.end(),
                   {fmt::format("{:.2f}", row.figures[i].value), std::string(row.figures[i].metric->unit)});
    else
      cells.insert(cells.end(), {"", ""});
    text += joined(cells);
  }
  return text;
}

/// As perf has them.
nlohmann::ordered_json figure_in_json(const StatRow::Figure& figure) {
  nlohmann::ordered_json object{{"metric-value", fmt::format("{:.6f}", figure.value)},
                                {"metric-unit", figure.metric->unit}};
  if (figure.stands_out) object["metric-threshold"] = *figure.stands_out ? "bad" : "good";
  return object;
}

/// Of several metrics that stand at one event, all but the first have lines of their own.
std::string more_figures(const StatRow& row) {
  std::string lines;
  for (std::size_t i = 1; i < row.figures.size(); ++i) lines += figure_in_json(row.figures[i]).dump() + "\n";
  return lines;
}

std::string json_line(const StatRow& row, const StatResult& result, std::optional<u64> interval_end) {
  nlohmann::ordered_json object;
  if (interval_end) object["interval"] = seconds(*interval_end);
  if (!row.owner.empty()) object["thread"] = row.owner;
  if (row.place) {
    object[row.place->kind] = row.place->name;
    if (row.place->kind != "cpu") object["aggregate-number"] = row.place->cpus;
  }
  object["counter-value"] =
      row.counted && row.supported ? fmt::format("{:.6f}", row.value) : value_text(row, false);
  object["unit"] = unit_of(row);
  object["event"] = row.event;
  if (!row.cgroup.empty()) object["cgroup"] = row.cgroup;
  if (row.deviation_percent) object["variance"] = *row.deviation_percent;
  if (row.interval_percent) object["interval-percent"] = *row.interval_percent;
  object["event-runtime"] = row.running_ns;
  object["pcnt-running"] = row.running_percent;
  if (!row.figures.empty()) object.update(figure_in_json(row.figures.front()));
  if (result.cut_by != 0) object["partial"] = signal_name(result.cut_by);
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n" + more_figures(row);
}

nlohmann::ordered_json metrics_in_json(const StatResult& result) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const StatRow& row : rows_of(result.runs.front().events, result))
    for (const StatRow::Figure& figure : row.figures) {
      const Metric& metric = *figure.metric;
      if (std::ranges::find(result.metrics, &metric) == result.metrics.end()) continue;
      all.push_back({{"metric", metric.name}, {"value", figure.value}, {"unit", metric.unit}});
      if (metric.level != 0) all.back()["level"] = metric.level;
      if (!metric.parent.empty()) all.back()["parent"] = metric.parent;
      if (figure.stands_out) all.back()["above_threshold"] = *figure.stands_out;
    }
  return all;
}

nlohmann::ordered_json events_in_json(const std::vector<EventTotal>& totals) {
  using nlohmann::ordered_json;
  ordered_json events = ordered_json::array();
  for (const EventTotal& total : totals) {
    events.push_back({{"event", total.name},
                      {"value", total.supported ? ordered_json(total.value()) : ordered_json()},
                      {"counted", total.counted},
                      {"enabled_ns", total.enabled_ns},
                      {"running_ns", total.running_ns}});
    if (!total.cgroup.empty()) events.back()["cgroup"] = total.cgroup;
    if (total.estimate)
      events.back()["estimate"] = {{"half_width", total.estimate->half_width * total.scale},
                                   {"confidence", Estimate::confidence},
                                   {"windows", total.estimate->windows}};
  }
  return events;
}

/// Of several runs `value` is the mean, and `runs` has each.
nlohmann::ordered_json events_of_runs(const std::vector<StatReport>& runs) {
  nlohmann::ordered_json events = events_in_json(runs.front().events);
  if (runs.size() < 2) return events;
  for (std::size_t e = 0; e < events.size(); ++e) {
    if (!runs.front().events[e].supported) continue;
    std::vector<u64> values;
    for (const StatReport& run : runs) values.push_back(run.events[e].value());
    const std::vector<double> counts(values.begin(), values.end());
    events[e]["value"] = std::llround(annotate::mean_of(counts));
    events[e]["runs"] = values;
  }
  return events;
}

std::string json_document(const StatResult& result) {
  const StatReport& run = result.runs.front();
  nlohmann::ordered_json document{{"trace", result.title},
                                  {"model", result.model->name},
                                  {"instructions_replayed", run.instructions},
                                  {"elapsed_ns", run.elapsed_ns},
                                  {"replays", run.replays},
                                  {"partial", result.cut_by != 0},
                                  {"events", events_of_runs(result.runs)}};
  if (!result.metrics.empty()) document["metrics"] = metrics_in_json(result);
  if (result.machine != nullptr) document["machine"] = result.machine->name;
  if (result.start != StartState::cold) document["start"] = name_of(result.start);
  if (const std::string chosen = chosen_core_parameters(*result.model); !chosen.empty())
    document["core_set"] = chosen;
  for (const CpuTotals& cpu : run.cpus)
    document["cpus"].push_back({{"cpu", cpu.cpu}, {"events", events_in_json(cpu.events)}});
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// One row in the format asked for, with the time at which its interval ended, if there is one.
std::string line_of(const StatRow& row, const StatResult& result, std::optional<u64> interval_end) {
  const std::string before = interval_end ? fmt::format("{:.9f}", seconds(*interval_end)) : "";
  switch (result.command->format()) {
    case StatFormat::csv:
      return csv_line(row, before, result.command->separator);
    case StatFormat::json_lines:
      return json_line(row, result, interval_end);
    default:
      return text_line(row, before.empty() ? "" : fmt::format("{:>16}", before));
  }
}

}  // namespace

std::string partial_text(const StatResult& result) {
  if (result.cut_by == 0) return "";
  const std::string sentence =
      fmt::format("partial counts: {} ended the run after {} instructions", signal_name(result.cut_by),
                  fmt::group_digits(result.runs.back().instructions));
  switch (result.command->format()) {
    case StatFormat::text:
      return fmt::format("{:>20} {}\n", "", sentence);
    case StatFormat::csv:
      return fmt::format("# {}\n", sentence);
    default:
      return "";  // each object says it
  }
}

std::string stat_text(const StatResult& result) {
  if (result.command->format() == StatFormat::json) return json_document(result);
  const bool for_people = result.command->format() == StatFormat::text;
  std::string text = for_people ? headline(result) : "";
  for (const StatRow& row : final_rows(result)) text += line_of(row, result, std::nullopt);
  return text + (for_people ? closing_lines(result) : partial_text(result));
}

std::string interval_text(const StatResult& result, const IntervalTotals& totals, bool first) {
  std::string text;
  const std::vector<StatRow> rows = rows_of(totals.events, totals.cpus, result);
  if (first && result.command->format() == StatFormat::text) text = interval_heading(rows);
  for (const StatRow& row : rows) text += line_of(row, result, totals.end_ns);
  return text;
}

}  // namespace pmusim::tools
