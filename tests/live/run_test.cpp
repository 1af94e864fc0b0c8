// SPDX-License-Identifier: MIT
// pmusim run, over perf as it is installed and over programs that use perf_event_open themselves.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include "pmusim/base/bits.h"
#include "tests/end_to_end/command.h"

namespace pmusim::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

const std::string events_program = std::string(TEST_PROGRAMS) + "/events";
const std::string bare_program = std::string(TEST_PROGRAMS) + "/bare";

enum class Addresses : u8 { random, fixed };

/// Under a watchdog: a supervisor and its program that wait for each other would do so for ever. The
/// environment is small.
Output run_live(const std::vector<std::string>& program, const std::vector<std::string>& options = {},
                Addresses addresses = Addresses::random) {
  std::vector<std::string> command{"timeout", "-k", "1",         "60",
                                   "env",     "-i", "HOME=/tmp", "PATH=/usr/bin:/bin"};
  if (addresses == Addresses::fixed) command.insert(command.end(), {"setarch", "-R"});
  command.insert(command.end(), {pmusim(), "run"});
  command.insert(command.end(), options.begin(), options.end());
  command.push_back("--");
  command.insert(command.end(), program.begin(), program.end());
  return run(command);
}

/// perf stat's -x, output: counts by the event's name.
std::map<std::string, std::string> counts_in(const std::string& text) {
  std::map<std::string, std::string> counts;
  static const std::regex line(R"(^([^,]+),[^,]*,([^,]+),)");
  for (const std::string& one : lines(text))
    if (std::smatch found; std::regex_search(one, found, line)) counts[found[2]] = found[1];
  return counts;
}

/// What a run says of this system.
const std::string& remarks() {
  static const Output probe = run_live({"true"}, {"-v"});
  return probe.err;
}
bool shows_pmu() { return remarks().find("no PMU in sysfs") == std::string::npos; }

/// Skipped where programs cannot be run live at all.
class Live : public testing::Test {
 protected:
  void SetUp() override {
    static const std::regex refusal("is forbidden here|needs Linux|cannot run under itself");
    if (std::regex_search(remarks(), refusal)) GTEST_SKIP() << remarks();
  }
  std::string file(const std::string& name) const { return scratch_.file(name); }

 private:
  ScratchDirectory scratch_;
};

class LiveWithPerf : public Live {
 protected:
  void SetUp() override {
    Live::SetUp();
    if (IsSkipped()) return;
    if (!installed("perf")) GTEST_SKIP() << "perf is not installed";
    if (!shows_pmu()) GTEST_SKIP() << remarks();
  }
  /// What `perf record OPTIONS -- bare` leaves, as perf script prints it.
  std::string recorded_samples(std::vector<std::string> options, std::vector<std::string> script) const {
    std::vector<std::string> command{"perf", "record", "-o", file("perf.data")};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", bare_program});
    const Output recorded = run_live(command);
    EXPECT_EQ(recorded.status, 0) << recorded.err;
    script.insert(script.begin(), "script");
    return run_perf(std::move(script), file("perf.data")).out;
  }
};

TEST_F(Live, EndsAsTheProgramDoes) {
  EXPECT_EQ(run_live({"sh", "-c", "exit 7"}).status, 7);
  EXPECT_EQ(run_live({"sh", "-c", "kill -9 $$"}).status, 128 + 9);
  const Output missing = run_live({"/no/such/program"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("/no/such/program: cannot be started"));
}

TEST_F(LiveWithPerf, CountsEqualThoseOfAReplayToTheDigit) {
  const std::vector<std::string> programs[] = {{bare_program}, {"/usr/bin/true"}};
  for (const auto& program : programs) {
    const std::string events = "instructions:u,cycles:u,branches:u,branch-misses:u";
    const std::vector<std::string> stat{"perf", "stat", "-x,", "-o", file("counts"), "-e", events, "--"};
    // perf changes the environment of what it runs, which moves the stack.
    std::vector<std::string> told = stat;
    told.push_back("/usr/bin/env");
    std::vector<std::string> record{"env", "-i"};
    for (const std::string& variable : lines(run_live(told, {}, Addresses::fixed).out))
      record.push_back(variable);
    std::vector<std::string> live = stat;
    live.insert(live.end(), program.begin(), program.end());
    const Output counted = run_live(live, {}, Addresses::fixed);
    ASSERT_EQ(counted.status, 0) << counted.err;

    record.insert(record.end(), {pmusim(), "trace", "record", "--step", "-o", file("trace"), "--"});
    record.insert(record.end(), program.begin(), program.end());
    ASSERT_EQ(run(record).status, 0);
    const Output replayed =
        run({pmusim(), "stat", "-x,", "-o", file("replayed"), "-e", events, file("trace")});
    ASSERT_EQ(replayed.status, 0) << replayed.err;
    const auto expected = counts_in(read_file(file("replayed")));
    EXPECT_EQ(expected.size(), 4u);
    EXPECT_EQ(counts_in(read_file(file("counts"))), expected) << program.front();
  }
}

TEST_F(LiveWithPerf, PerfStatFallsBackToUserModeByItself) {
  const Output output = run_live({"perf", "stat", bare_program});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, ContainsRegex("[0-9,]+ +instructions:u"));
  EXPECT_THAT(output.err, ContainsRegex("[0-9,]+ +cycles:u"));
  EXPECT_THAT(output.err, ContainsRegex("[0-9.,]+ +msec task-clock")) << "the kernel's own";
}

TEST_F(LiveWithPerf, ChildrenAndThreadsAreCountedWithTheirParent) {
  const auto branches = [&](const char* rounds) {
    const Output output = run_live({"perf", "stat", "-x,", "-o", file("counts"), "-e", "branches:u", "--",
                                    events_program, "others", rounds});
    EXPECT_EQ(output.status, 0) << output.err;
    return std::stod(counts_in(read_file(file("counts")))["branches:u"]);
  };
  EXPECT_NEAR(branches("3000") - branches("1000"), 2 * 2000, 200) << "the rest depends on who waits for whom";
}

TEST_F(LiveWithPerf, SamplesComeWithSymbols) {
  const std::string samples = recorded_samples({"-e", "instructions:u", "-c", "500"}, {"-F", "ip,sym,comm"});
  EXPECT_GT(lines(samples).size(), 20u);
  EXPECT_THAT(samples, HasSubstr("bare"));
  EXPECT_THAT(samples, HasSubstr("leaf"));
}

TEST_F(LiveWithPerf, SamplesComeWithBranchStacksAndPreciseAddresses) {
  const std::string stacks = recorded_samples({"-e", "cycles:upp", "-c", "1000", "-b"}, {"-F", "ip,brstack"});
  EXPECT_THAT(stacks, ContainsRegex("0x[0-9a-f]+/0x[0-9a-f]+/[PM]/"));
}

TEST_F(LiveWithPerf, CallChainsOfUserEventsAreRecorded) {
  const std::string chains = recorded_samples({"-g", "-e", "instructions:u", "-c", "500"}, {"-F", "ip,sym"});
  EXPECT_THAT(chains, ContainsRegex("leaf\n.*walk"));
}

TEST_F(LiveWithPerf, GroupsAreReadWithTheirLeader) {
  const std::string samples =
      recorded_samples({"-e", "{cycles:u,instructions:u}:S", "-c", "1000"}, {"-F", "event,period"});
  EXPECT_THAT(samples, HasSubstr("instructions:u"));
}

TEST_F(LiveWithPerf, PageFaultsAreCountedInAGroupAsTheKernelCountsThem) {
  const auto faults = [&](const char* events) {
    const Output output =
        run_live({"perf", "stat", "-x,", "-o", file("counts"), "-e", events, "--", events_program, "count"},
                 {}, Addresses::fixed);
    EXPECT_EQ(output.status, 0) << output.err;
    return std::atoi(counts_in(read_file(file("counts")))["page-faults:u"].c_str());
  };
  // Around a page the kernel maps those that are cached at the moment: no two runs need fault alike.
  const int expected = faults("page-faults:u");
  EXPECT_GT(expected, 10);
  EXPECT_NEAR(faults("{instructions:u,page-faults:u}"), expected, expected / 2);
}

TEST_F(LiveWithPerf, PageFaultsAndCyclesAreSampledIntoOneBuffer) {
  const std::string samples =
      recorded_samples({"-e", "cycles/period=500/u,page-faults/period=1/u"}, {"-F", "event,ip,sym"});
  EXPECT_THAT(samples, HasSubstr("cycles"));
  EXPECT_THAT(samples, ContainsRegex("page-faults[^\n]*(_start|leaf)"));
}

TEST_F(LiveWithPerf, WhatNoGroupCanCountIsNotSupported) {
  const Output output =
      run_live({"perf", "stat", "-x,", "-e", "{cycles:u,context-switches:u}", bare_program});
  EXPECT_THAT(output.err, HasSubstr("<not supported>,,context-switches:u"));
}

TEST_F(LiveWithPerf, MemorySamplesHaveAddressesAndSources) {
  const std::string samples = recorded_samples({"-d", "-W", "-e", "cpu/mem-loads,ldlat=3/upp", "-c", "50"},
                                               {"-F", "addr,data_src,weight"});
  EXPECT_THAT(samples, HasSubstr("L1"));
}

TEST_F(Live, TheMachineHasThePmuInItsDevices) {
  if (!shows_pmu()) GTEST_SKIP() << remarks();
  const Output list = run_live({"sh", "-c",
                                "cat /sys/bus/event_source/devices/cpu/caps/pmu_name "
                                "/sys/devices/system/cpu/online /proc/sys/kernel/perf_event_paranoid; "
                                "echo $LIBPFM_FORCE_PMU $PERF_CPUID"},
                               {"--model", "skylake"});
  EXPECT_EQ(list.out, "skylake\n0\n2\nskl GenuineIntel-6-5E-3\n") << list.err;
}

TEST_F(Live, ASelfMonitoringProgramCountsItsOwnWorkExactly) {
  const Output output = run_live({events_program, "count"});
  EXPECT_EQ(output.out, "2000\n1000\n") << output.err;
}

TEST_F(Live, EachOverflowSendsItsSignal) {
  const Output output = run_live({events_program, "signals"});
  ASSERT_NE(output.out, "") << output.err;
  EXPECT_NEAR(std::stoi(output.out), 50, 3);
}

TEST_F(Live, PollWakesTheReaderAndHangsUpAtTheEnd) {
  const Output output = run_live({events_program, "poll"});
  ASSERT_NE(output.out, "") << output.err;
  EXPECT_NEAR(std::stoi(output.out), 50, 2);
  EXPECT_THAT(output.out, testing::Not(HasSubstr("no wakeup")));
}

TEST_F(Live, WhatCannotWorkIsRefusedAsAKernelDoes) {
  EXPECT_EQ(run_live({events_program, "refusals"}).out, R"(kernel mode: EACCES
every task of a CPU: EACCES
a CPU that is not there: EINVAL
no such task: ESRCH
an unknown flag: EINVAL
a group leader that is no event: EINVAL
an unknown event: EOPNOTSUPP
user mode: works
a read that is too short: ENOSPC
AUX: EINVAL
a private mapping: EINVAL
three data pages: EINVAL
a mapping: works
REFRESH of what does not sample: EINVAL
a filter: EINVAL
BPF: EOPNOTSUPP
a terminal's ioctl: ENOTTY
dup2 to a low number: EINVAL
a duplicate is the same event
the kernel's software events: works
)");
}

/// Processes that run the program whose name is unlike any other's.
std::size_t still_running(const std::string& program) {
  std::size_t running = 0;
  for (const auto& process : std::filesystem::directory_iterator("/proc"))
    if (read_file((process.path() / "cmdline").string()).starts_with(program)) ++running;
  return running;
}

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
    for (int patience = 0; patience < 500 && still_running(endless) != 0; ++patience) ::usleep(20'000);
    EXPECT_EQ(still_running(endless), 0u) << ms;
  }
  const Output killed = run_live({"perf", "stat", "-e", "instructions:u", events_program, "killed"});
  EXPECT_THAT(killed.err, ContainsRegex("Killed(.|\n)*instructions:u"));
  const Output watcher = run_live({"sh", "-c",
                                   "perf record -o " + file("x") + " -e instructions:u -c 100 " + endless +
                                       " work 4000000000 & sleep 0.3; kill -9 $!; sleep 0.1"});
  EXPECT_EQ(watcher.status, 0) << watcher.err;
}

TEST_F(LiveWithPerf, StopsAndContinuesAsTheProgramIsTold) {
  const Output output =
      run_live({"sh", "-c",
                events_program + " work 4000000000 & p=$!; (sleep 0.2; kill -STOP $p; sleep 0.2; "
                                 "kill -CONT $p; sleep 0.1; kill $p) & perf stat -e instructions:u -p $p"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, ContainsRegex("[0-9,]+ +instructions:u"));
}

TEST_F(Live, ARunUnderItselfIsRefusedWithTheReason) {
  const Output output = run_live({pmusim(), "run", "--", "true"});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("cannot run under itself"));
}

}  // namespace
}  // namespace pmusim::test
