// SPDX-License-Identifier: MIT
#include "sweep_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/output_file.h"
#include "json_file.h"

namespace pmusim::tools {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

/// What makes a result this job's, first in its file.
ordered_json job_json(const SweepJob& job) {
  ordered_json json{{"trace", job.trace_name},
                    {"trace_bytes", job.trace_bytes},
                    {"model", job.model_name},
                    {"set", job.set_name},
                    {job.metrics.empty() ? "events" : "metrics", job.events}};
  if (job.core != SweepJob{}.core) json["core"] = text_of(job.core);
  if (job.start != SweepJob{}.start) json["start"] = name_of(job.start);
  if (!job.core_set.empty()) json["core_set"] = job.core_set;
  return json;
}

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

template <class T>
std::optional<T> optional_at(const ordered_json& object, const char* key) {
  const ordered_json& value = object.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<T>());
}

ordered_json result_json(const SweepResult& result) {
  ordered_json json{{"job", job_json(*result.job)},
                    {"instructions", result.instructions},
                    {"elapsed_ns", result.elapsed_ns},
                    {"counts", ordered_json::array()}};
  for (const SweepResult::Count& count : result.counts) {
    json["counts"].push_back({{"event", count.event}, {"count", or_null(count.count)}});
    if (count.half_width) json["counts"].back()["half_width"] = *count.half_width;
    if (!count.count) json["counts"].back()["reason"] = count.reason;
  }
  for (const SweepResult::Value& value : result.metrics)
    json["metrics"].push_back(
        {{"metric", value.metric}, {"value", or_null(value.value)}, {"unit", value.unit}});
  return json;
}

/// What lines are made from.
void check_counts(const JsonFile& file) {
  const ordered_json& result = file.content;
  for (const char* const key : {"instructions", "elapsed_ns"})
    if (!result.contains(key) || !result[key].is_number_unsigned())
      file.refuse(fmt::format("\"{}\": expected a number; delete the file to do the job again", key));
  const bool has_list = result.contains("counts") && result["counts"].is_array();
  const auto is_count = [](const ordered_json& count) {
    return count.is_object() && count.contains("event") && count["event"].is_string() &&
           count.contains("count") && (count["count"].is_null() || count["count"].is_number_unsigned());
  };
  if (!has_list || !std::ranges::all_of(result["counts"], is_count))
    file.refuse(
        "\"counts\": expected a list of objects with \"event\" and \"count\"; delete the file to do the job "
        "again");
}

/// Throws where the file lacks something.
SweepResult parse_result(const SweepJob& job, const ordered_json& json) {
  SweepResult result{.job = &job,
                     .instructions = json.at("instructions").get<u64>(),
                     .elapsed_ns = json.at("elapsed_ns").get<u64>(),
                     .counts = {},
                     .metrics = {}};
  for (const ordered_json& count : json.at("counts"))
    result.counts.push_back(
        {count.at("event").get<std::string>(), optional_at<u64>(count, "count"),
         count.value("reason", std::string()),
         count.contains("half_width") ? optional_at<u64>(count, "half_width") : std::nullopt});
  for (const ordered_json& value : json.value("metrics", ordered_json::array()))
    result.metrics.push_back({value.at("metric").get<std::string>(), value.at("unit").get<std::string>(),
                              optional_at<double>(value, "value")});
  return result;
}

constexpr const char* uncounted = "it cannot be counted here: 'pmusim stat -e' says why";

/// "% of all branches", without the indentation that level 2 of topdown has in text.
std::string unit_of(const Metric& metric) {
  if (metric.unit == metric.name) return "";  // a ratio of its own
  const std::size_t end = metric.unit.find("  ");
  return std::string(metric.unit.substr(0, end));
}

}  // namespace

SweepResult result_of(const SweepJob& job, const StatReport& replay, std::span<const EventTotal> totals) {
  SweepResult result{.job = &job,
                     .instructions = replay.instructions,
                     .elapsed_ns = replay.elapsed_ns,
                     .counts = {},
                     .metrics = {}};
  std::size_t next = 0;
  for (const SweptEvent& event : job.list.all) {
    if (!event.known()) {
      result.counts.push_back({event.name, std::nullopt, event.lacking, std::nullopt});
      continue;
    }
    const EventTotal& total = totals[next++];
    result.counts.push_back(
        {event.name, total.supported ? std::optional(total.value()) : std::nullopt, uncounted,
         total.estimate ? std::optional(total.estimate->half_width * total.scale) : std::nullopt});
  }
  const std::vector<EventTotal> known(totals.begin(), totals.end());
  for (const Metric* const metric : job.metrics)
    result.metrics.push_back(
        {std::string(metric->name), unit_of(*metric), metric_value(*metric, known, job.model)});
  return result;
}

SweepResults::SweepResults(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw CommandError(fmt::format("-o {}: cannot be made: {}", folder_, error.message()));
}

std::optional<SweepResult> SweepResults::read(const SweepJob& job) const {
  std::error_code error;
  if (!fs::exists(path_of(job), error)) return std::nullopt;
  const JsonFile file = JsonFile::read(path_of(job));
  if (!file.content.is_object() || !file.content.contains("job")) file.refuse("is no result of a sweep");
  if (file.content["job"] != job_json(job))
    file.refuse("is the result of another sweep, of other events or another trace; give another folder");
  check_counts(file);
  try {
    return parse_result(job, file.content);
  } catch (const nlohmann::json::exception&) {
    file.refuse("is no whole result of a sweep; delete the file to do the job again");
  }
}

void SweepResults::put(const SweepResult& result) const {
  const std::string text = result_json(result).dump(2) + '\n';
  OutputFile file = value_or_fail(OutputFile::create(path_of(*result.job)));
  value_or_fail(file.write(std::as_bytes(std::span(text))));
  value_or_fail(file.sync());
  value_or_fail(file.commit());
}

std::vector<SweepResult> SweepResults::all(std::span<const SweepJob> jobs) const {
  std::vector<SweepResult> results;
  for (const SweepJob& job : jobs) {
    std::optional<SweepResult> result = read(job);
    if (!result)
      throw CommandError(
          fmt::format("{}: is missing; run the sweep without --merge until all jobs are done", path_of(job)));
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace pmusim::tools
