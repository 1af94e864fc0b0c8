// SPDX-License-Identifier: MIT
// pmusim run, over perf as it is installed and over programs that use perf_event_open themselves.
#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST_F(Live, EndsAsTheProgramDoes) {
  EXPECT_EQ(run_live({"sh", "-c", "exit 7"}).status, 7);
  EXPECT_EQ(run_live({"sh", "-c", "kill -9 $$"}).status, 128 + 9);
  const Output missing = run_live({"/no/such/program"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("/no/such/program: cannot be started"));
}

TEST_F(LiveWithPerf, PerfStatFallsBackToUserModeByItself) {
  const Output output = run_live({"perf", "stat", bare_program});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, ContainsRegex("[0-9,]+ +instructions:u"));
  EXPECT_THAT(output.err, ContainsRegex("[0-9,]+ +cycles:u"));
  EXPECT_THAT(output.err, ContainsRegex("[0-9.,]+ +msec task-clock")) << "the kernel's own";
}

TEST_F(LiveWithPerf, TopdownMetricsComeFromTheirGroups) {
  const Output output = run_live({"perf", "stat", "-M", "TopdownL1", bare_program});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, ContainsRegex("[1-9][0-9]* +TOPDOWN.SLOTS:u"));
  EXPECT_THAT(output.err, ContainsRegex(" 0 +INT_MISC.UOP_DROPPING:u"));
  EXPECT_THAT(output.err, testing::Not(HasSubstr("<not")));
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

TEST_F(LiveWithPerf, OverflowsThatAnInterruptsSkidMergesAreSaid) {
  const auto recorded = [&](const char* period) {
    return run_live({"perf", "record", "-o", file("perf.data"), "-e", "instructions:u", "-c", period, "--",
                     bare_program},
                    {"-v"})
        .err;
  };
  EXPECT_THAT(recorded("20"), ContainsRegex("[1-9][0-9]+ overflows have no sample of their own"));
  EXPECT_THAT(recorded("1000"), testing::Not(HasSubstr("of their own")));
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

TEST_F(LiveWithPerf, CountsPageFaultsInAGroupAsTheKernelDoes) {
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

TEST_F(Live, PrctlSwitchesAllEventsThatTheProgramHasOpened) {
  EXPECT_EQ(run_live({events_program, "prctl"}).out, "200 200\n");
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

TEST_F(Live, WhoHasReadWhatItWasWokenForWaitsForTheNextWakeup) {
  EXPECT_EQ(run_live({events_program, "wakeups"}).out, "woken\nwaits\nwoken\n");
}

TEST_F(Live, AnEventMayBeClosedWhileItWakesItsReader) {
  const Output output = run_live({events_program, "close"});
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.out, "done\n");
}

TEST_F(Live, WhatCannotWorkIsRefusedAsAKernelDoes) {
  EXPECT_EQ(run_live({events_program, "refusals"}).out, R"(kernel mode: EACCES
a CPU that is not there: EINVAL
no such task: ESRCH
an unknown flag: EINVAL
a group leader that is no event: EINVAL
a generic event that there is not: EINVAL
a generic event that the CPU lacks: ENOENT
a precise event that does not sample: EINVAL
a reserved bit of an off-core register: EINVAL
an event that no table has: EOPNOTSUPP
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

TEST_F(Live, ARunUnderItselfIsRefusedWithTheReason) {
  const Output output = run_live({pmusim(), "run", "--", "true"});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("cannot run under itself"));
}

}  // namespace
}  // namespace pmusim::test
