// SPDX-License-Identifier: MIT
// What a program leaves behind ends with the run, however that ends.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;

/// A program that works for hours, under a name of its own.
class Leftovers : public Live {
 protected:
  void SetUp() override {
    Live::SetUp();
    if (!IsSkipped()) std::filesystem::copy_file(events_program, endless());
  }
  std::string endless() const { return file("endless"); }
  /// Shell's words: one that a shell leaves in the background, and one of a session of its own.
  std::string leave_two() const {
    const std::string one = endless() + " work 4000000000000 & ";
    return one + (installed("setsid") ? "setsid " : "") + one;
  }
  /// Not for ever.
  bool two_run() const {
    for (int patience = 0; patience < 1000 && still_running(endless()) < 2; ++patience) ::usleep(20'000);
    return still_running(endless()) == 2;
  }
  int ended_with(int signal, const std::string& then) const {
    const Running running({pmusim(), "run", "--", "sh", "-c", leave_two() + then});
    EXPECT_TRUE(two_run());
    return running.end_with(signal);
  }
};

TEST_F(Leftovers, EndWithTheProgram) {
  EXPECT_EQ(run_live({"sh", "-c", leave_two() + "exit 3"}).status, 3);
  EXPECT_EQ(still_running(endless()), 0u) << "before the run has ended";
}

TEST_F(Leftovers, ThatIgnoreSigtermAreKilled) {
  EXPECT_EQ(run_live({"sh", "-c", "trap '' TERM; " + leave_two() + "exit 4"}).status, 4);
  EXPECT_EQ(still_running(endless()), 0u);
}

TEST_F(Leftovers, HaveTheirChanceToEndBySigterm) {
  const Output output = run_live({"sh", "-c",
                                  "(trap 'echo cleaned; exit' TERM; echo >" + file("ready") +
                                      "; while :; do sleep 1; done) & until [ -e " + file("ready") +
                                      " ]; do sleep 0.01; done"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_EQ(output.out, "cleaned\n");
}

TEST_F(Leftovers, EndWithASupervisorThatIsKilled) {
  ended_with(SIGKILL, "wait");
  EXPECT_EQ(left_running(endless()), 0u);
}

/// A server on which perf has opened an event.
class TasksOutsideOfTheRun : public Leftovers {
 protected:
  void SetUp() override {
    if (!installed("perf")) GTEST_SKIP() << "perf is not installed";
    Leftovers::SetUp();
  }
  void expect_to_outlive(int signal, const std::vector<std::string>& options) const {
    const Running server({endless(), "work", "4000000000000"});
    const auto is_traced = [&] {
      const std::string status = fmt::format("/proc/{}/status", server.pid());
      return run({"grep", "-c", "^TracerPid:[[:space:]]*[1-9]", status}).out == "1\n";
    };
    std::vector<std::string> command{pmusim(), "run", "--", "perf", "stat", "-e", "instructions:u", "-p"};
    command.push_back(std::to_string(server.pid()));
    command.insert(command.end(), options.begin(), options.end());
    const Running running(command);
    for (int patience = 0; patience < 1000 && !is_traced(); ++patience) ::usleep(20'000);
    EXPECT_TRUE(is_traced());
    running.end_with(signal);
    for (int patience = 0; patience < 1000 && is_traced(); ++patience) ::usleep(20'000);
    ::usleep(100'000);
    EXPECT_EQ(still_running(endless()), 1u) << signal;
    server.end_with(SIGKILL);
  }
};

TEST_F(TasksOutsideOfTheRun, GoOnWhenItEnds) { expect_to_outlive(SIGTERM, {}); }

// Linux leaves the trap flag of a task that is stepped when its tracer dies: only those that are not go on.
TEST_F(TasksOutsideOfTheRun, GoOnWithoutTheirSupervisor) { expect_to_outlive(SIGKILL, {"-D", "3600000"}); }

TEST_F(Leftovers, EndWithAnInterruptedProgram) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = ended_with(signal, "wait");
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << signal << ": " << status;
    EXPECT_EQ(still_running(endless()), 0u) << signal;
  }
}

}  // namespace
}  // namespace pmusim::test
