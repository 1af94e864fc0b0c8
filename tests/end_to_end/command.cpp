// SPDX-License-Identifier: MIT
#include "command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

extern char** environ;

namespace pmusim::test {

namespace fs = std::filesystem;

namespace {

int exit_status(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/// Held by one process at a time.
class FileLock {
 public:
  explicit FileLock(const std::string& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ < 0 || flock(file_, LOCK_EX) != 0) throw std::runtime_error("cannot lock " + path);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() { close(file_); }

 private:
  int file_;
};

bool is_newer(const std::string& file, const std::string& other) {
  return fs::exists(file) && fs::last_write_time(file) > fs::last_write_time(other);
}

/// Starts a program with every signal as it is by default: a shell has what it does not wait for, and so a
/// test that it runs, ignore Ctrl-C. Returns an errno, or 0.
int spawn(const std::vector<std::string>& arguments, const posix_spawn_file_actions_t& files, pid_t& child) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawnp(&child, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

Output run(const std::vector<std::string>& arguments) {
  const ScratchDirectory scratch;
  const std::string out = scratch.file("out"), err = scratch.file("err");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failed = spawn(arguments, files, child);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return {127, "", "cannot run " + arguments[0]};
  int status = 0;
  waitpid(child, &status, 0);
  return {exit_status(status), read_file(out), read_file(err)};
}

Output run_perf(std::vector<std::string> arguments, const std::string& file) {
  arguments.insert(arguments.begin(), "perf");
  arguments.insert(arguments.end(), {"-i", file});
  return run(arguments);
}

std::string perf_output(std::vector<std::string> arguments, const std::string& file) {
  const Output output = run_perf(std::move(arguments), file);
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.err, "");
  return output.out;
}

std::string pmusim() { return PMUSIM_COMMAND; }
std::string workload(const std::string& name) { return std::string(PMUSIM_WORKLOADS) + "/" + name; }

Running::Running(const std::vector<std::string>& arguments) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int descriptor : {1, 2})
    posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_WRONLY, 0);
  const int error = spawn(arguments, files, child_);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error("cannot run " + arguments[0]);
}

int Running::end_with(int signal) const {
  ::kill(child_, signal);
  int status = 0;
  ::waitpid(child_, &status, 0);
  return status;
}

unsigned number_from(const char* variable, unsigned otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? static_cast<unsigned>(std::max(1, std::atoi(text))) : otherwise;
}

bool installed(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');)
    if (access((directory + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

ScratchDirectory::ScratchDirectory() {
  std::string name = (fs::temp_directory_path() / "pmusim-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a scratch directory");
  path_ = name;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string recorded(const std::string& workload_name, const std::vector<std::string>& arguments,
                     const std::string& registers) {
  std::string name = workload_name + "-" + registers;
  for (const std::string& argument : arguments) name += "-" + argument;
  fs::create_directories(PMUSIM_RECORDINGS);
  const std::string path = PMUSIM_RECORDINGS "/" + name + ".pmutrace";
  const FileLock lock(path + ".lock");
  if (is_newer(path, pmusim()) && is_newer(path, workload(workload_name)) && fs::exists(path + ".printed"))
    return path;
  // A recorder that is killed leaves what it has: it must not pass for the whole.
  const std::string unfinished = path + ".unfinished";
  std::vector<std::string> command{pmusim(), "trace", "record", "--regs", registers, "-o", unfinished};
  if (registers != "none") command.insert(command.end(), {"--start-symbol", "main"});
  command.insert(command.end(), {"--", workload(workload_name)});
  command.insert(command.end(), arguments.begin(), arguments.end());
  const Output output = run(command);
  if (output.status != 0) throw std::runtime_error("recording failed: " + output.err);
  std::ofstream(path + ".printed") << output.out;
  fs::rename(unfinished, path);
  return path;
}

std::string printed_in(const std::string& trace) { return read_file(trace + ".printed"); }

// By the stream, not by iterators: a process that ends while its file in /proc is read makes the stream fail,
// and iterators throw.
std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

std::vector<std::string> command_lines() {
  std::vector<std::string> all;
  for (const auto& process : fs::directory_iterator("/proc"))
    all.push_back(read_file(process.path() / "cmdline"));
  return all;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

}  // namespace pmusim::test
