// SPDX-License-Identifier: MIT
// Events of cgroups: they belong to a CPU, and count while a task of the cgroup, or of one below it, runs
// there (kernel/events/core.c, perf_cgroup_switch). 1 ms is 3,000,000 instructions.
#include <gmock/gmock.h>

#include "several_cpus.h"
#include "tests/support/dice.h"

namespace pmusim::cgroups_test {
namespace {

using driver::CutRecord;
using driver::records_of;
using driver::SeveralCpus;
using perf::Attr;
using perf::Event;
using perf::RecordType;
using perf::SoftwareId;
using testing::ElementsAre;

constexpr u64 ms = SeveralCpus::ms;
constexpr u32 A = 100, B = 200, C = 300;

Attr counting(perf::EventType type, u64 config) {
  Attr attr;
  attr.type = static_cast<u32>(type);
  attr.config = config;
  attr.exclude_hv = 1;
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  return attr;
}
Attr instructions() {
  Attr attr = counting(perf::EventType::hardware, static_cast<u64>(perf::HardwareId::instructions));
  attr.exclude_kernel = 1;
  return attr;
}
/// On one of the general counters.
Attr branches_retired() { return counting(perf::EventType::raw, 0xC4); }
Attr software(SoftwareId id) { return counting(perf::EventType::software, static_cast<u64>(id)); }

/// A is in /web/front, B in /web, C in no cgroup.
class Cgroups : public testing::Test {
 protected:
  Cgroups() {
    for (const u32 task : {A, B, C}) s.core().task_started(task, task, "task");
    s.core().move_to_cgroup(A, front);
    s.core().move_to_cgroup(B, web);
  }
  Event& open(const Attr& attr, u64 cgroup, i32 cpu = 0, Event* leader = nullptr) {
    return s.open(attr, static_cast<i32>(cgroup), cpu, leader, perf::open_flag::PID_CGROUP);
  }
  int error_of(i32 cgroup, Event* leader) {
    const auto event = s.core().open(instructions(), cgroup, 0, leader, perf::open_flag::PID_CGROUP);
    return event.ok() ? 0 : event.error().error_number;
  }
  /// Each for 1 ms on CPU 0.
  void take_turns(std::initializer_list<u32> tasks) {
    for (const u32 task : tasks) {
      s.switch_to(0, task);
      s.until(0, s.now(0) + ms);
    }
  }

  SeveralCpus s{std::vector<CpuModel>(2, *find_cpu_model("icelake"))};
  const u64 front = s.core().make_cgroup("/web/front"), web = s.core().make_cgroup("/web");
};

TEST_F(Cgroups, CountTheirTasksAndThoseBelow) {
  Event &of_front = open(instructions(), front), &of_web = open(instructions(), web),
        &of_all = open(instructions(), 1), &elsewhere = open(instructions(), web, 1);
  take_turns({A, B, C, 0, A});
  EXPECT_THAT(s.read(of_front), ElementsAre(6'000'000, 2 * ms, 2 * ms));
  EXPECT_THAT(s.read(of_web), ElementsAre(9'000'000, 3 * ms, 3 * ms));
  EXPECT_THAT(s.read(of_all), ElementsAre(12'000'000, 5 * ms, 5 * ms));
  EXPECT_THAT(s.read(elsewhere), ElementsAre(0, 0, 0));
}

TEST_F(Cgroups, OfATaskThatIsMovedWhileItRuns) {
  Event& of_front = open(instructions(), front);
  take_turns({C});
  s.core().move_to_cgroup(C, front);
  s.until(0, 2 * ms);
  s.core().move_to_cgroup(C, 1);
  s.until(0, 3 * ms);
  EXPECT_THAT(s.read(of_front), ElementsAre(3'000'000, 1 * ms, 1 * ms));
}

TEST_F(Cgroups, OpenedWhileATaskOfTheirsRuns) {
  take_turns({A});
  Event& event = open(instructions(), web);
  s.until(0, 2 * ms);
  EXPECT_THAT(s.read(event), ElementsAre(3'000'000, 1 * ms, 1 * ms));
}

TEST_F(Cgroups, ChildrenAreWhereTheirParentIs) {
  Event& event = open(instructions(), front);
  s.core().fork(A, A, 101);
  take_turns({101});
  EXPECT_EQ(s.read(event)[0], 3'000'000u);
}

TEST_F(Cgroups, LeaveTheirCountersToOthers) {
  std::vector<Event*> of_front, of_rest;
  for (int n = 0; n < 8; ++n) of_front.push_back(&open(branches_retired(), front));
  const u64 rest = s.core().make_cgroup("/rest");
  s.core().move_to_cgroup(B, rest);
  for (int n = 0; n < 8; ++n) of_rest.push_back(&open(branches_retired(), rest));
  take_turns({A, B});
  for (Event* const event : of_front) EXPECT_THAT(s.read(*event), ElementsAre(0, 1 * ms, 1 * ms));
  for (Event* const event : of_rest) EXPECT_THAT(s.read(*event), ElementsAre(0, 1 * ms, 1 * ms));
}

TEST_F(Cgroups, SwitchesAreCountedBetweenThem) {
  Event &switches = s.open(software(SoftwareId::cgroup_switches), -1, 0),
        &of_front = open(software(SoftwareId::cgroup_switches), front);
  s.core().fork(A, A, 101);
  take_turns({A, 101, B, C, 0});  // from and to nobody's
  EXPECT_EQ(s.read(switches)[0], 3u);
  EXPECT_EQ(s.read(of_front)[0], 1u);
}

TEST_F(Cgroups, AGroupCountsOne) {
  Event& leader = open(instructions(), front);
  EXPECT_EQ(error_of(static_cast<i32>(web), &leader), EINVAL);
  EXPECT_EQ(error_of(static_cast<i32>(front), &leader), 0);
  EXPECT_EQ(error_of(77, nullptr), EBADF);
  EXPECT_EQ(s.core().open(instructions(), 1, -1, nullptr, perf::open_flag::PID_CGROUP).error().error_number,
            EINVAL);
}

TEST_F(Cgroups, ARecordSaysThatOneIsMade) {
  Attr attr = software(SoftwareId::dummy);
  attr.cgroup = attr.sample_id_all = 1;
  attr.sample_type = perf::sample::TID | perf::sample::TIME | perf::sample::CPU;
  perf::RingBuffer& ring = s.map(s.open(attr, -1, 0));
  const u64 made = s.core().make_cgroup("/web/back");
  EXPECT_EQ(s.core().make_cgroup("/web/back"), made);
  const auto records = records_of(ring, RecordType::cgroup);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at(8), made);
  EXPECT_STREQ(reinterpret_cast<const char*>(records[0].bytes.data() + 16), "/web/back");
}

TEST_F(Cgroups, SamplesSayWhichOneTheirTaskIsIn) {
  using namespace perf::sample;
  Attr attr = instructions();
  attr.sample_period = 3'000'000 - 1000;
  attr.sample_type = TID | CGROUP;
  perf::RingBuffer& ring = s.map(s.open(attr, -1, 0));
  take_turns({A, B, C});
  std::vector<std::pair<u32, u64>> seen;
  for (const CutRecord& sample : records_of(ring, RecordType::sample))
    seen.emplace_back(sample.at<u32>(12), sample.at(16));
  EXPECT_THAT(seen, ElementsAre(std::pair(A, front), std::pair(B, web), std::pair(C, u64{1})));
}

/// As a kernel calls them by the inodes of their directories.
TEST_F(Cgroups, HaveTheIdThatTheyWereGiven) {
  using namespace perf::sample;
  constexpr u64 inode = u64{1} << 40;
  Attr attr = software(SoftwareId::dummy);
  attr.cgroup = 1;
  perf::RingBuffer& made = s.map(s.open(attr, -1, 0));
  attr = instructions();
  attr.sample_period = 3'000'000 - 1000;
  attr.sample_type = TID | CGROUP;
  perf::RingBuffer& sampled = s.map(s.open(attr, -1, 0));
  s.core().move_to_cgroup(A, s.core().make_cgroup("/web/back", inode));
  take_turns({A});
  EXPECT_EQ(records_of(made, RecordType::cgroup).at(0).at(8), inode);
  EXPECT_EQ(records_of(sampled, RecordType::sample).at(0).at(16), inode);
}

TEST_F(Cgroups, AreAPath) {
  for (const char* path : {"", "web", "/web/", "//web"})
    EXPECT_THROW(s.core().make_cgroup(path), std::invalid_argument) << path;
  EXPECT_EQ(s.core().make_cgroup("/"), 1u);
  EXPECT_THROW(s.core().move_to_cgroup(999, 1), std::invalid_argument);
  EXPECT_THROW(s.core().move_to_cgroup(A, 999), std::invalid_argument);
}

/// Whoever runs wherever and is moved whenever: each cgroup has what its tasks did.
TEST(CgroupsAtRandom, CountWhatTheirTasksDid) {
  constexpr u32 cpus = 2;
  for (u64 seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    SeveralCpus s(std::vector<CpuModel>(cpus, *find_cpu_model("icelake")));
    const std::vector<u64> ids{1, s.core().make_cgroup("/a"), s.core().make_cgroup("/a/b"),
                               s.core().make_cgroup("/c")};
    const auto holds = [&](std::size_t set, std::size_t other) {
      return set == 0 || set == other || (set == 1 && other == 2);
    };
    const std::vector<u32> tasks{A, B, C};
    for (const u32 task : tasks) s.core().task_started(task, task, "task");
    std::vector<std::vector<Event*>> events(ids.size());
    for (std::size_t set = 0; set < ids.size(); ++set)
      for (u32 cpu = 0; cpu < cpus; ++cpu)
        events[set].push_back(&s.open(instructions(), static_cast<i32>(ids[set]), static_cast<i32>(cpu),
                                      nullptr, perf::open_flag::PID_CGROUP));
    std::vector<std::size_t> in(tasks.size());
    std::vector<std::vector<u64>> expected(ids.size(), std::vector<u64>(cpus));
    for (int step = 0; step < 40; ++step) {
      const u32 cpu = static_cast<u32>(dice.below(cpus));
      const std::size_t task = dice.below(tasks.size());
      if (dice.one_in(3)) {
        in[task] = dice.below(ids.size());
        s.core().move_to_cgroup(tasks[task], ids[in[task]]);
      }
      if (dice.one_in(4)) s.switch_to(cpu, 0);
      const bool runs =
          s.core().cpu(0).current_tid() == tasks[task] || s.core().cpu(1).current_tid() == tasks[task];
      if (!runs) s.switch_to(cpu, tasks[task]);
      if (s.core().cpu(cpu).current_tid() != tasks[task]) continue;
      const u64 n = dice.below(3000);
      s.instructions(cpu, n);
      for (std::size_t set = 0; set < ids.size(); ++set)
        if (holds(set, in[task])) expected[set][cpu] += n;
    }
    for (std::size_t set = 0; set < ids.size(); ++set)
      for (u32 cpu = 0; cpu < cpus; ++cpu)
        ASSERT_EQ(s.read(*events[set][cpu])[0], expected[set][cpu]) << "seed " << seed;
  }
}

}  // namespace
}  // namespace pmusim::cgroups_test
