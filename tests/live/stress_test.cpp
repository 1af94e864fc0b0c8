// SPDX-License-Identifier: MIT
// Nobody waits for ever, and nothing is left running, whoever is killed, stopped or traced.
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

// Whoever is killed, and whenever: nobody waits for ever, and nothing that was watched is left. What perf
// leaves when it is terminated goes on at full speed, as it does without pmusim: then the program is soon
// done.
TEST_F(LiveWithPerf, EndsWhateverIsKilledWhenever) {
  const std::string endless = file("endless");
  std::filesystem::copy_file(events_program, endless);
  const std::vector<std::string> stat{pmusim(),         "run",   "--",   "perf",     "stat", "-e",
                                      "instructions:u", endless, "work", "100000000"};
  for (const unsigned ms : {0u, 3u, 10u, 30u, 60u, 100u, 200u, 400u}) {
    const Running running(stat);
    ::usleep(ms * 1000);
    running.end_with(ms % 20 == 0 ? SIGKILL : SIGTERM);
    EXPECT_EQ(left_running(endless), 0u) << ms;
  }
  const Output killed = run_live({"perf", "stat", "-e", "instructions:u", events_program, "killed"});
  EXPECT_THAT(killed.err, ContainsRegex("Killed(.|\n)*instructions:u"));
  const Output watcher = run_live({"sh", "-c",
                                   "perf record -o " + file("x") + " -e instructions:u -c 100 " + endless +
                                       " work 4000000000 & sleep 0.3; kill -9 $!; sleep 0.1"});
  EXPECT_EQ(watcher.status, 0) << watcher.err;
}

TEST_F(LiveWithPerf, StopsAndContinuesWithTheProgram) {
  const Output output =
      run_live({"sh", "-c",
                events_program + " work 4000000000 & p=$!; (sleep 0.2; kill -STOP $p; sleep 0.2; "
                                 "kill -CONT $p; sleep 0.1; kill $p) & perf stat -e instructions:u -p $p"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, ContainsRegex("[0-9,]+ +instructions:u"));
}

TEST_F(Live, TwoHundredStartsInARowEndAndLeaveNobody) {
  const std::string program = file("starts");
  std::filesystem::copy_file(events_program, program);
  for (int start = 0; start < 200; ++start) {
    const Output output = run_live({program, "start"});
    ASSERT_EQ(output.out, "20\n") << start << ": " << output.err;
  }
  EXPECT_EQ(left_running(program), 0u);
}

// Opens, closes, maps, switches and passes on events while children and threads are killed, stopped and
// replaced: what comes when depends on the machine, that it ends does not.
TEST_F(Live, TheProgramEndsWhateverIsClosedKilledOrStopped) {
  const std::string program = file("churn");
  std::filesystem::copy_file(events_program, program);
  for (const char* seed : {"1", "2", "3", "4", "5", "6"}) {
    const Output output = run_live({program, "churn", seed, "60"});
    EXPECT_EQ(output.status, 0) << seed << ": " << output.err;
    EXPECT_EQ(output.out, "done\n") << seed;
  }
  EXPECT_EQ(left_running(program), 0u);
}

TEST_F(Live, TheTreeEndsWithItsSupervisorAmidAnything) {
  const std::string program = file("churn");
  std::filesystem::copy_file(events_program, program);
  for (unsigned ms = 5; ms < 300; ms += ms) {
    const Running running({pmusim(), "run", "--", program, "churn", std::to_string(ms), "1000000"});
    ::usleep(ms * 1000);
    running.end_with(SIGKILL);
    EXPECT_EQ(left_running(program), 0u) << ms;
  }
}

TEST_F(Live, ATaskThatIsTracedAlreadyIsBusy) {
  if (!installed("strace")) GTEST_SKIP() << "strace is not installed";
  const Output output = run_live({"strace", "-o", file("calls"), events_program, "open"});
  EXPECT_EQ(output.out, "open: EBUSY\n") << output.err;
}

TEST_F(Live, AWatchedTaskCannotBeTracedAndGoesOn) {
  if (!installed("strace")) GTEST_SKIP() << "strace is not installed";
  const Output output = run_live({"sh", "-c", events_program + " traced strace -o " + file("calls") + " -p"});
  EXPECT_EQ(output.out, "strace fails\n20\n") << output.err;
}

}  // namespace
}  // namespace pmusim::test
