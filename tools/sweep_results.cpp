// SPDX-License-Identifier: MIT
#include "sweep_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/output_file.h"
#include "base/printable.h"
#include "csv.h"

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
                    {"events", job.events}};
  if (job.core != SweepJob{}.core) json["core"] = name_of(job.core);
  return json;
}

ordered_json result_json(const SweepJob& job, const StatReport& report) {
  ordered_json counts = ordered_json::array();
  for (const EventTotal& total : report.events) {
    ordered_json count{{"event", total.name}};
    count["count"] = total.supported ? ordered_json(total.value()) : ordered_json();
    counts.push_back(std::move(count));
  }
  return {{"job", job_json(job)},
          {"instructions", report.instructions},
          {"elapsed_ns", report.elapsed_ns},
          {"replays", report.replays},
          {"counts", std::move(counts)}};
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

std::string count_text(const ordered_json& count) { return count.is_null() ? "not supported" : count.dump(); }

}  // namespace

SweepResults::SweepResults(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw CommandError(fmt::format("-o {}: cannot be made: {}", folder_, error.message()));
}

std::optional<JsonFile> SweepResults::read(const SweepJob& job) const {
  std::error_code error;
  if (!fs::exists(path_of(job), error)) return std::nullopt;
  JsonFile file = JsonFile::read(path_of(job));
  if (!file.content.is_object() || !file.content.contains("job")) file.refuse("is no result of a sweep");
  if (file.content["job"] != job_json(job))
    file.refuse("is the result of another sweep, of other events or another trace; give another folder");
  check_counts(file);
  return file;
}

bool SweepResults::has(const SweepJob& job) const { return read(job).has_value(); }

void SweepResults::put(const SweepJob& job, const StatReport& report) const {
  const std::string text = result_json(job, report).dump(2) + '\n';
  OutputFile file = value_or_fail(OutputFile::create(path_of(job)));
  value_or_fail(file.write(std::as_bytes(std::span(text))));
  value_or_fail(file.sync());
  value_or_fail(file.commit());
}

std::string SweepResults::merged(std::span<const SweepJob> jobs) const {
  std::string lines = "trace,model,set,event,count,instructions,elapsed_ns\n";
  for (const SweepJob& job : jobs) {
    const std::optional<JsonFile> file = read(job);
    if (!file)
      throw CommandError(
          fmt::format("{}: is missing; run the sweep without --merge until all jobs are done", path_of(job)));
    const ordered_json& result = file->content;
    for (const ordered_json& count : result.at("counts"))
      lines += fmt::format("{},{},{},{},{},{},{}\n", job.trace_name, job.model_name, job.set_name,
                           csv_field(printable(count.at("event").get<std::string>())),
                           count_text(count.at("count")), result.at("instructions").dump(),
                           result.at("elapsed_ns").dump());
  }
  return lines;
}

}  // namespace pmusim::tools
