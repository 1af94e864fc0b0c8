// SPDX-License-Identifier: MIT
// Whose samples are: the task, under the name that it had then, and the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/annotate/perf_data_fixture.h"

namespace pmusim::annotate::sample_owners_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Owner = std::tuple<u32, std::string, u64>;  // tid, command, period

/// make (1), which forks 2 at 50; that becomes cc at 150. Nothing names 7.
class SampleOwnersTest : public PerfDataTest {
 protected:
  void write_samples() {
    open();
    add_event("cycles", attribute());
    tell(program());
    write(sample({.pid = 2, .ip = in_round, .time = 100, .period = 30}));
    write(sample({.pid = 2, .ip = in_round, .time = 200, .period = 500}));
    write(sample({.pid = 1, .ip = in_round, .time = 220, .period = 4}));
    write(sample({.pid = 7, .ip = in_round, .time = 230, .period = 1}));
    // A file of several CPUs has records out of order.
    tell(perf::CommRecord{.pid = 2, .tid = 2, .name = "cc", .misc = perf::misc::COMM_EXEC}, 150);
    tell(perf::TaskRecord{.pid = 2, .parent_pid = 1, .tid = 2, .parent_tid = 1, .time = 50}, 50);
    tell(perf::CommRecord{.pid = 1, .tid = 1, .name = "make"}, 0);
  }
  std::vector<Owner> tasks(const SampleChoice& choice) {
    std::vector<Owner> all;
    for (const SampledTask& task : report({.samples = choice}).tasks)
      all.emplace_back(task.tid, task.command, task.weights[0].period);
    return all;
  }
};

TEST_F(SampleOwnersTest, ATaskHasItsParentsNameUntilItIsNamed) {
  write_samples();
  EXPECT_THAT(tasks({}),
              ElementsAre(Owner(2, "cc", 500), Owner(2, "make", 30), Owner(1, "make", 4), Owner(7, ":7", 1)));
}

TEST_F(SampleOwnersTest, CommandsProcessesAndThreadsChoose) {
  write_samples();
  EXPECT_THAT(tasks({.commands = {"make"}}), ElementsAre(Owner(2, "make", 30), Owner(1, "make", 4)));
}

TEST_F(SampleOwnersTest, EachListThatIsNotEmptyHasToHoldIt) {
  write_samples();
  EXPECT_THAT(tasks({.commands = {"make", "cc"}, .pids = {2, 7}, .tids = {2}}),
              ElementsAre(Owner(2, "cc", 500), Owner(2, "make", 30)));
}

TEST_F(SampleOwnersTest, OtherCountsFollowTheChoice) {
  write_samples();
  const Report chosen = report({.samples = {.commands = {"cc"}}});
  EXPECT_EQ(chosen.events[0].total, (Weight{1, 500}));
  EXPECT_EQ(chosen.symbols[0].weights[0], (Weight{1, 500}));
}

TEST_F(SampleOwnersTest, SamplesWithoutACpuAreOnNone) {
  write_samples();
  EXPECT_THAT(report().cpus, IsEmpty());
}

TEST_F(SampleOwnersTest, NothingLeftIsAnErrorThatNamesWhatThereIs) {
  write_samples();
  ASSERT_TRUE(writer->finish());
  const auto none = analyze(path(), {.samples = {.commands = {"mak"}}});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("commands: cc, make, :7; did you mean make?"));
  EXPECT_FALSE(analyze(path(), {.samples = {.cpus = {0}}}).ok());
}

/// Samples with TID and CPU alone.
TEST_F(SampleOwnersTest, CpusHaveTheirPackages) {
  open({.cpus = 2, .cpu_places = {{.package = 0}, {.package = 1}}});
  perf::Attr attr = attribute();
  attr.sample_type = perf::sample::IDENTIFIER | perf::sample::IP | perf::sample::TID | perf::sample::CPU;
  attr.branch_sample_type = 0;
  add_event("cycles", attr);
  for (const u64 cpu : {1, 0, 1, 5}) write(record(9, perf::misc::USER, {1, in_round, 1, cpu}));
  std::vector<std::tuple<u32, u32, u64>> cpus;
  for (const SampledCpu& each : report().cpus)
    cpus.emplace_back(each.cpu, each.package, each.weights[0].samples);
  EXPECT_THAT(cpus, ElementsAre(std::tuple(1, 1, 2), std::tuple(0, 0, 1), std::tuple(5, nothing, 1)));
}

}  // namespace
}  // namespace pmusim::annotate::sample_owners_test
