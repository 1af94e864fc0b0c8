// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_SWEEP_RESULTS_H
#define PMUSIM_TOOLS_SWEEP_RESULTS_H

#include <optional>
#include <span>
#include <string>

#include "json_file.h"
#include "pmusim/session/stat.h"
#include "sweep_file.h"

namespace pmusim::tools {

/// The folder of a sweep: one file for each finished job, under the job's name. A file is there whole or not
/// at all, so that any number of processes on any number of machines may fill it, and end at any moment.
class SweepResults {
 public:
  /// Makes the folder if there is none. Ends the command where that fails.
  explicit SweepResults(std::string folder);

  /// Whether the job has been done. Ends the command if its file tells of another one: another trace, other
  /// events.
  bool has(const SweepJob& job) const;
  /// Ends the command where that fails.
  void put(const SweepJob& job, const StatReport& report) const;
  /// One line per event of each job, with a headline. Ends the command if a result is missing.
  std::string merged(std::span<const SweepJob> jobs) const;

 private:
  std::string path_of(const SweepJob& job) const { return folder_ + '/' + job.name() + ".json"; }
  std::optional<JsonFile> read(const SweepJob& job) const;

  std::string folder_;
};

}  // namespace pmusim::tools

#endif
