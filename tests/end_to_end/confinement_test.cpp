// SPDX-License-Identifier: MIT
// What a command that reads a file can do to the machine it runs on (docs/security.md).
#include "tools/confinement.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <regex>
#include <thread>

#include "tests/end_to_end/command.h"

namespace pmusim::test {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::IsSubsetOf;

/// A bit for each thing that a confined process could still do.
int can_do() {
  const auto refused = [](long result) { return result == -1 && errno == EPERM; };
  char* const no_words[] = {nullptr};
  int can = 0;
  if (!refused(::socket(AF_INET, SOCK_STREAM, 0))) can |= 1;
  if (!refused(::socket(AF_UNIX, SOCK_STREAM, 0))) can |= 2;
  if (!refused(::execve("/bin/true", no_words, no_words))) can |= 4;
  if (!refused(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr))) can |= 8;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  if (!refused(child)) can |= 16;
  return can;
}

/// The exit status of `body` in a process of its own.
template <class Body>
int status_of(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

TEST(Confinement, TakesConnectionsProgramsAndOtherProcessesAway) {
  EXPECT_EQ(status_of([] {
              tools::confine();
              return can_do();
            }),
            0);
}

TEST(Confinement, LeavesFilesAndThreads) {
  EXPECT_EQ(status_of([] {
              tools::confine();
              int opened = -1;
              std::thread([&] { opened = ::open("/dev/null", O_RDWR); }).join();
              return opened >= 0 ? 0 : 1;
            }),
            0);
}

/// What a command asks the kernel for behind its start-up, as strace writes it down.
class Watched {
 public:
  explicit Watched(std::vector<std::string> arguments) {
    const std::string log = scratch_.file("calls");
    arguments.insert(arguments.begin(), {"strace", "-f", "-qq", "-s", "4096", "-o", log, "-e",
                                         "trace=%file,%network,%process,seccomp,prctl", pmusim()});
    output_ = run(arguments);
    static const std::regex filter(R"(SECCOMP_SET_MODE_FILTER, 0, \{len=.*\) = 0)");
    bool started = false;
    for (const std::string& line : lines(read_file(log))) {
      if (started) calls_.push_back(line);
      started = started || std::regex_search(line, filter);
    }
  }
  const Output& output() const { return output_; }
  bool is_confined() const { return !calls_.empty(); }

  /// Names of the files that it opened, whether for reading or writing.
  std::vector<std::string> opened() const {
    static const std::regex open(R"re(open(?:at|at2)?\((?:AT_FDCWD, )?"([^"]*)".*\) = \d+)re");
    std::vector<std::string> names;
    std::smatch found;
    for (const std::string& call : calls_)
      if (std::regex_search(call, found, open)) names.push_back(found[1]);
    return names;
  }
  /// Calls that begin a program or a process, or connect to others.
  std::vector<std::string> beyond_files() const {
    static const std::regex beyond(R"(\b(exec\w*|v?fork|socket\w*|connect|bind|send\w*|ptrace)\()");
    std::vector<std::string> found;
    for (const std::string& call : calls_)
      if (std::regex_search(call, beyond)) found.push_back(call);
    return found;
  }

 private:
  ScratchDirectory scratch_;
  Output output_;
  std::vector<std::string> calls_;
};

TEST(Confinement, AReplayOpensItsInputAndItsOutput) {
  const ScratchDirectory scratch;
  const std::string trace = recorded("branches", {"400"}), profile = scratch.file("perf.data");
  const Watched replay({"record", "-b", "-c", "1009", "-o", profile, trace});
  ASSERT_EQ(replay.output().status, 0) << replay.output().err;
  ASSERT_TRUE(replay.is_confined());
  // A new file has no name until it is whole: it is opened by its folder.
  EXPECT_THAT(replay.opened(), IsSubsetOf({trace, profile, scratch.path().string()}));
  EXPECT_THAT(replay.opened(), Contains(trace));
  EXPECT_THAT(replay.beyond_files(), IsEmpty());
}

TEST(Confinement, WhatOnlyReadsOpensItsInput) {
  const ScratchDirectory scratch;
  const std::string trace = recorded("branches", {"400"}), profile = scratch.file("perf.data");
  ASSERT_EQ(run({pmusim(), "record", "-b", "-c", "1009", "-o", profile, trace}).status, 0);
  const std::pair<std::vector<std::string>, std::string> commands[] = {{{"stat", trace}, trace},
                                                                       {{"trace", "info", trace}, trace},
                                                                       {{"trace", "dump", trace}, trace},
                                                                       {{"script", "-i", profile}, profile},
                                                                       {{"models"}, ""},
                                                                       {{"events"}, ""}};
  for (const auto& [arguments, input] : commands) {
    const Watched command(arguments);
    EXPECT_EQ(command.output().status, 0) << arguments[0] << command.output().err;
    EXPECT_TRUE(command.is_confined()) << arguments[0];
    // libpfm4 looks where the kernel's event files are mounted.
    EXPECT_THAT(command.opened(), IsSubsetOf({input, std::string("/proc/mounts")})) << arguments[0];
    EXPECT_THAT(command.beyond_files(), IsEmpty()) << arguments[0];
  }
}

// It reads the programs and debug files that the profile names: to look at, never to run.
TEST(Confinement, AnnotatingRunsNothing) {
  const ScratchDirectory scratch;
  const std::string trace = recorded("branches", {"400"}), profile = scratch.file("perf.data");
  ASSERT_EQ(run({pmusim(), "record", "-b", "-c", "1009", "-o", profile, trace}).status, 0);
  for (const std::string command : {"annotate", "report"}) {
    const Watched watched({command, "-i", profile});
    EXPECT_EQ(watched.output().status, 0) << watched.output().err;
    EXPECT_TRUE(watched.is_confined()) << command;
    EXPECT_THAT(watched.opened(), Contains(profile)) << command;
    EXPECT_THAT(watched.beyond_files(), IsEmpty()) << command;
  }
}

TEST(Confinement, ProgramsThatAreToRunDo) {
  const ScratchDirectory scratch;
  EXPECT_EQ(run({pmusim(), "stat", "-o", scratch.file("stat"), "--", "/bin/true"}).status, 0);
}

}  // namespace
}  // namespace pmusim::test
