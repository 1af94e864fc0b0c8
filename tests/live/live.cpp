// SPDX-License-Identifier: MIT
#include "tests/live/live.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace pmusim::test {

Output run_live(const std::vector<std::string>& program, const std::vector<std::string>& options,
                Addresses addresses) {
  std::vector<std::string> command{"timeout", "-k", "1",         "60",
                                   "env",     "-i", "HOME=/tmp", "PATH=/usr/bin:/bin"};
  if (addresses == Addresses::fixed) command.insert(command.end(), {"setarch", "-R"});
  command.insert(command.end(), {pmusim(), "run"});
  command.insert(command.end(), options.begin(), options.end());
  command.push_back("--");
  command.insert(command.end(), program.begin(), program.end());
  return run(command);
}

std::map<std::string, std::string> counts_in(const std::string& text) {
  std::map<std::string, std::string> counts;
  static const std::regex line(R"(^([^,]+),[^,]*,([^,]+),)");
  for (const std::string& one : lines(text))
    if (std::smatch found; std::regex_search(one, found, line)) counts[found[2]] = found[1];
  return counts;
}

const std::string& remarks() {
  static const Output probe = run_live({"true"}, {"-v"});
  return probe.err;
}
bool shows_pmu() { return remarks().find("no PMU in sysfs") == std::string::npos; }

std::size_t still_running(const std::string& program) {
  const auto is_of_it = [&](const std::string& line) { return line.starts_with(program); };
  return static_cast<std::size_t>(std::ranges::count_if(command_lines(), is_of_it));
}

// A scan can miss a process that forks meanwhile: none is left when two in a row see none.
std::size_t left_running(const std::string& program) {
  std::size_t left = 1;
  for (int patience = 0, none = 0; patience < 500 && none < 2; ++patience) {
    left = still_running(program);
    none = left == 0 ? none + 1 : 0;
    if (left != 0) ::usleep(20'000);
  }
  return left;
}

std::string perf_of_intel(const std::string& copy) {
  if (read_file("/proc/cpuinfo").find("AuthenticAMD") == std::string::npos) return "perf";
  const std::string path = lines(run({"sh", "-c", "readlink -f $(command -v perf)"}).out).at(0);
  std::string program = read_file(path);
  for (std::size_t at = 0; (at = program.find("AuthenticAMD", at)) != std::string::npos;)
    program.replace(at, 12, "AuthenticAny");
  std::ofstream(copy, std::ios::binary) << program;
  std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
  return copy;
}

void Live::SetUp() {
  static const std::regex refusal("is forbidden here|needs Linux|cannot run under itself");
  if (std::regex_search(remarks(), refusal)) GTEST_SKIP() << remarks();
}

void LiveWithPerf::SetUp() {
  Live::SetUp();
  if (IsSkipped()) return;
  if (!installed("perf")) GTEST_SKIP() << "perf is not installed";
  if (!shows_pmu()) GTEST_SKIP() << remarks();
}

std::string LiveWithPerf::recorded_samples(std::vector<std::string> options,
                                           std::vector<std::string> script) const {
  std::vector<std::string> command{"perf", "record", "-o", file("perf.data")};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--", bare_program});
  const Output recorded = run_live(command);
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  script.insert(script.begin(), "script");
  return run_perf(std::move(script), file("perf.data")).out;
}

}  // namespace pmusim::test
