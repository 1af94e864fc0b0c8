// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_SWEEP_RESULTS_H
#define PMUSIM_TOOLS_SWEEP_RESULTS_H

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pmusim/session/stat.h"
#include "sweep_file.h"

namespace pmusim::tools {

/// What a job has found.
struct SweepResult {
  struct Count {
    std::string event;
    std::optional<u64> count;  ///< nothing: the CPU has no such event, or the trace cannot tell
    std::string reason{};      ///< of nothing
    /// Of the interval around what core `sampled` estimates.
    std::optional<u64> half_width{};
  };
  struct Value {
    std::string metric, unit;
    std::optional<double> value;
  };
  const SweepJob* job = nullptr;
  u64 instructions = 0, elapsed_ns = 0;
  std::vector<Count> counts;
  std::vector<Value> metrics;
};

/// The result of a job that was counted in a replay: `totals` are those of its events that the model knows.
SweepResult result_of(const SweepJob& job, const StatReport& replay, std::span<const EventTotal> totals);

/// The folder of a sweep: one file for each finished job, under the job's name. A file is there whole or not
/// at all, so that any number of processes on any number of machines may fill it, and end at any moment.
class SweepResults {
 public:
  /// Makes the folder if there is none. Ends the command where that fails.
  explicit SweepResults(std::string folder);

  /// Whether the job has been done. Ends the command if its file tells of another one: another trace, other
  /// events.
  bool has(const SweepJob& job) const { return read(job).has_value(); }
  /// Ends the command where that fails.
  void put(const SweepResult& result) const;
  /// The results of all jobs, in their order. Ends the command if one is missing.
  std::vector<SweepResult> all(std::span<const SweepJob> jobs) const;

 private:
  std::string path_of(const SweepJob& job) const { return folder_ + '/' + job.name() + ".json"; }
  std::optional<SweepResult> read(const SweepJob& job) const;

  std::string folder_;
};

}  // namespace pmusim::tools

#endif
