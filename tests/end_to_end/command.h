// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_END_TO_END_COMMAND_H
#define PMUSIM_TESTS_END_TO_END_COMMAND_H

#include <filesystem>
#include <string>
#include <vector>

namespace pmusim::test {

struct Output {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out, err;
};

/// Runs a program found in PATH (or by path) to its end and returns what it printed.
Output run(const std::vector<std::string>& arguments);

/// `perf ARGUMENTS... -i FILE`.
Output run_perf(std::vector<std::string> arguments, const std::string& file);
/// What it prints; the test fails if it complains.
std::string perf_output(std::vector<std::string> arguments, const std::string& file);

/// The command under test and the compiled programs of examples/workloads.
std::string pmusim();
std::string workload(const std::string& name);

/// A program that can be signalled, its output thrown away.
class Running {
 public:
  explicit Running(const std::vector<std::string>& arguments);
  /// Sends it the signal and waits: its status as waitpid gives it.
  int end_with(int signal) const;
  int pid() const { return child_; }

 private:
  int child_ = 0;
};

/// True if a program is in PATH.
bool installed(const std::string& program);

/// A directory that is gone with the object.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The trace of a workload with these arguments and --regs: under qemu, where that is installed and no
/// registers are asked for; with registers from main() on. Tests share recordings, because single steps are
/// most of their time: one is made again when the command or the workload is newer.
std::string recorded(const std::string& workload_name, const std::vector<std::string>& arguments,
                     const std::string& registers = "none");
/// What the workload of such a trace printed.
std::string printed_in(const std::string& trace);

std::string read_file(const std::string& path);
/// Of all processes that there are, each argument ended by a null.
std::vector<std::string> command_lines();
std::vector<std::string> lines(const std::string& text);

/// For longer runs (scripts/soak.sh): another number in the environment. At least 1.
unsigned number_from(const char* variable, unsigned otherwise);

}  // namespace pmusim::test

#endif
