// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_WORKLOAD_RECORDING_H
#define PMUSIM_TESTS_SUPPORT_WORKLOAD_RECORDING_H

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim {

/// A program of examples/workloads and its arguments, recorded for the running test: the file lives as long
/// as this object. Of a region, if one is named: single steps through a dynamic linker take their time.
class WorkloadRecording {
 public:
  explicit WorkloadRecording(std::vector<std::string> command, const trace::Region& region = {}) {
    command.front() = PMUSIM_WORKLOADS "/" + command.front();
    trace::RecordingOptions options;
    options.output = path_;
    options.region = region;
    const auto recorded = trace::record(command, options);
    if (!recorded.ok()) ADD_FAILURE() << recorded.error().message;
  }
  ~WorkloadRecording() { std::filesystem::remove(path_); }
  WorkloadRecording(const WorkloadRecording&) = delete;
  WorkloadRecording& operator=(const WorkloadRecording&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() +
                      std::to_string(getpid()) + ".pmutrace";
};

}  // namespace pmusim

#endif
