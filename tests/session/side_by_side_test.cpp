// SPDX-License-Identifier: MIT
// Several programs at once on one machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pmusim/session/stat.h"
#include "tests/session/walk.h"

namespace pmusim::side_by_side_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr u64 block_runs = 5'000;

/// A walk for each seed, the n-th of them n times as long as the first.
Result<std::vector<Session>, Error> open(const char* machine, const std::vector<u64>& seeds) {
  SessionOptions options;
  options.machine = *parse_machine(machine);
  options.model = options.machine->types.front();
  options.tick_ns = 1000;  // the walks are short
  std::vector<std::unique_ptr<trace::Source>> programs;
  for (const u64 seed : seeds)
    programs.push_back(std::make_unique<test::Walk>(seed, (programs.size() + 1) * block_runs,
                                                    test::Walk::Registers::unknown,
                                                    test::Walk::Addresses::known));
  return open_side_by_side(std::move(programs), options);
}

StatReport count(const char* machine, const std::vector<u64>& seeds, unsigned threads = 1,
                 const std::string& list = "cycles,instructions,branch-misses,LLC-loads,LLC-load-misses") {
  std::vector<Session> programs = *open(machine, seeds);
  StatOptions options{.events = *events::parse_events(list, programs.front().model())};
  options.cpus = parse_machine(machine)->online();
  return *stat(programs, options, threads);
}

std::vector<u64> values(const std::vector<EventTotal>& totals) {
  std::vector<u64> all;
  for (const EventTotal& total : totals)
    for (const u64 value : {total.counted, total.enabled_ns, total.running_ns}) all.push_back(value);
  return all;
}

/// Everything that is told of it.
std::vector<u64> all_values(const StatReport& report) {
  std::vector<u64> all = values(report.events);
  all.insert(all.end(), {report.instructions, report.elapsed_ns});
  for (const CpuTotals& cpu : report.cpus) {
    all.push_back(cpu.cpu);
    std::ranges::copy(values(cpu.events), std::back_inserter(all));
  }
  return all;
}

TEST(SideBySide, TheNumberOfThreadsChangesNothing) {
  for (const char* const machine : {"skylake:4s4c", "skylake:2s4c8t", "skylake:4c"}) {
    const std::vector<u64> serial = all_values(count(machine, {1, 2, 3, 4}));
    for (const unsigned threads : {2u, 3u, 16u})
      EXPECT_EQ(all_values(count(machine, {1, 2, 3, 4}, threads)), serial) << machine << threads;
  }
}

TEST(SideBySide, WithAPackageForItselfAProgramCountsAsAlone) {
  const StatReport both = count("skylake:2s2c", {1, 2}, 2), first = count("skylake:1c", {1});
  for (std::size_t event = 0; event < both.events.size(); ++event) {
    EXPECT_EQ(both.cpus[0].events[event].counted, first.events[event].counted) << event;
    EXPECT_EQ(both.events[event].counted,
              both.cpus[0].events[event].counted + both.cpus[1].events[event].counted);
  }
  EXPECT_EQ(both.events[1].counted, both.instructions);
}

// Lines of different programs are different ones, though their processes have the same id.
TEST(SideBySide, InOnePackageProgramsHaveOneL3) {
  const StatReport apart = count("skylake:2s2c", {7, 7}), together = count("skylake:2c", {7, 7});
  EXPECT_EQ(together.instructions, apart.instructions);
  EXPECT_GE(together.events[4].counted, apart.events[4].counted);
  EXPECT_GT(together.events[4].counted, 0u);
}

TEST(SideBySide, WhoEndsFirstLeavesAnIdleCpu) {
  const StatReport report = count("skylake:3c", {1, 1, 1}, 1, "cpu-clock,cycles,instructions");
  for (const CpuTotals& cpu : report.cpus) {
    EXPECT_EQ(cpu.events[0].counted, report.elapsed_ns) << cpu.cpu;
    EXPECT_EQ(cpu.events[1].enabled_ns, report.elapsed_ns) << cpu.cpu;
  }
  EXPECT_LT(report.cpus[0].events[1].counted, report.cpus[2].events[1].counted);
}

TEST(SideBySide, EventsOfProgramsAddUp) {
  std::vector<Session> programs = *open("skylake:2c", {1, 2});
  const StatOptions options{.events = *events::parse_events("instructions", programs.front().model())};
  const StatReport report = *stat(programs, options);
  EXPECT_EQ(report.events[0].counted, report.instructions);
}

TEST(SideBySide, CoresAreDividedEvenlyAndWhole) {
  const std::vector<Session> programs = *open("skylake:4c8t", {1, 2, 3});
  EXPECT_THAT(programs[0].cpus_of_machine(), ElementsAre(0, 4));
  EXPECT_THAT(programs[1].cpus_of_machine(), ElementsAre(1, 5));
  EXPECT_THAT(programs[2].cpus_of_machine(), ElementsAre(2, 3, 6, 7));
}

TEST(SideBySide, RefusesWhatMakesNoParts) {
  EXPECT_THAT(open("skylake:2c", {1, 2, 3}).error().message, HasSubstr("has 2 cores, and 3 programs"));
  EXPECT_THAT(open("alderlake:2p2e", {1, 2}).error().message, HasSubstr("two kinds of core"));
  std::vector<Session> programs = *open("skylake:2c", {1, 2});
  StatOptions options{.events = *events::parse_events("instructions", programs.front().model())};
  options.interval_ns = 1000;
  EXPECT_THAT(stat(programs, options).error().message, HasSubstr("go with one program"));
}

}  // namespace
}  // namespace pmusim::side_by_side_test
