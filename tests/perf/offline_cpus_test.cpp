// SPDX-License-Identifier: MIT
// CPUs that go offline and come back: what becomes of their events, and of those of tasks.
#include <gmock/gmock.h>

#include <array>
#include <stdexcept>

#include "tests/perf/core_fixture.h"

namespace pmusim::perf {
namespace {

using testing::ElementsAre;

class OfflineCpus : public testing::Test {
 protected:
  OfflineCpus() {
    const std::array<PmuDriver*, 2> both{&drivers[0], &drivers[1]};
    core = PerfCore::create(both);
    core->task_started(100, 100, "task");
  }
  Event& open(i32 pid, i32 cpu, Event* leader = nullptr) {
    return *core->open(attr(), pid, cpu, leader).value();
  }
  static Attr attr() {
    Attr attr;
    attr.type = static_cast<u32>(EventType::raw);
    attr.read_format = read_format::TOTAL_TIME_ENABLED | read_format::TOTAL_TIME_RUNNING;
    return attr;
  }
  void count(u32 cpu, u64 n) { drivers[cpu].count(n, core->cpu(cpu), {}); }
  std::vector<u64> read(Event& event) { return core->read(event).value(); }
  void pass(u64 ns) {
    for (const u32 n : {0u, 1u}) core->cpu(n).advance(time + ns, {});
    time += ns;
  }

  u64 time = 0;
  std::array<FakeDriver, 2> drivers;
  std::unique_ptr<PerfCore> core;
};

TEST_F(OfflineCpus, StopTheirEventsForGood) {
  Event &leader = open(-1, 1), &member = open(-1, 1, &leader);
  pass(1000);
  count(1, 5);
  core->cpu(1).set_online(false);
  EXPECT_THAT(drivers[1].on(), ElementsAre());
  pass(1000);
  core->cpu(1).set_online(true);
  core->enable(leader);
  count(1, 7);
  pass(1000);
  for (Event* event : {&leader, &member}) EXPECT_THAT(read(*event), ElementsAre(5, 1000, 1000));
  core->close(leader);
  EXPECT_THAT(read(member), ElementsAre(5, 1000, 1000));
}

TEST_F(OfflineCpus, TakeNoEventsUntilTheyAreBack) {
  core->cpu(1).set_online(false);
  EXPECT_EQ(core->open(attr(), -1, 1).error().error_number, ENODEV);
  EXPECT_TRUE(core->open(attr(), -1, 0).ok());
  Event& of_task = open(100, 1);
  EXPECT_THROW(core->cpu(1).switch_to(100), std::invalid_argument);
  core->cpu(1).set_online(true);
  EXPECT_TRUE(core->open(attr(), -1, 1).ok());
  core->cpu(1).switch_to(100);
  count(1, 3);
  EXPECT_EQ(read(of_task)[0], 3u);
}

TEST_F(OfflineCpus, AreIdle) {
  core->cpu(1).switch_to(100);
  EXPECT_THROW(core->cpu(1).set_online(false), std::invalid_argument);
  core->cpu(1).switch_to(0);
  core->cpu(1).set_online(false);
}

}  // namespace
}  // namespace pmusim::perf
