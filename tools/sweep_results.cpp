// SPDX-License-Identifier: MIT
#include "sweep_results.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/output_file.h"
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

std::string count_text(const ordered_json& count) { return count.is_null() ? "not supported" : count.dump(); }

}  // namespace

SweepResults::SweepResults(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw CommandError(fmt::format("-o {}: cannot be made: {}", folder_, error.message()));
}

std::optional<std::string> SweepResults::read(const SweepJob& job) const {
  std::ifstream stream(path_of(job));
  if (!stream) return std::nullopt;
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

bool SweepResults::has(const SweepJob& job) const {
  const std::optional<std::string> text = read(job);
  if (!text) return false;
  const ordered_json result = ordered_json::parse(*text, nullptr, false);
  if (!result.is_object() || !result.contains("job"))
    throw CommandError(fmt::format("{}: is no result of a sweep", path_of(job)));
  if (result["job"] != job_json(job))
    throw CommandError(fmt::format(
        "{}: is the result of another sweep, of other events or another trace; give another folder",
        path_of(job)));
  return true;
}

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
    if (!has(job))
      throw CommandError(
          fmt::format("{}: is missing; run the sweep without --merge until all jobs are done", path_of(job)));
    const ordered_json result = ordered_json::parse(*read(job));
    for (const ordered_json& count : result.at("counts"))
      lines += fmt::format("{},{},{},{},{},{},{}\n", job.trace_name, job.model_name, job.set_name,
                           csv_field(count.at("event").get<std::string>()), count_text(count.at("count")),
                           result.at("instructions").dump(), result.at("elapsed_ns").dump());
  }
  return lines;
}

}  // namespace pmusim::tools
