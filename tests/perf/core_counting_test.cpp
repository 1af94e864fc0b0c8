// SPDX-License-Identifier: MIT
#include "perf/throttle.h"
#include "tests/perf/core_fixture.h"

namespace pmusim::perf {
namespace {

constexpr u64 all_times = read_format::TOTAL_TIME_ENABLED | read_format::TOTAL_TIME_RUNNING;

class CoreCounting : public CoreTest {};

TEST_F(CoreCounting, AnOpenedEventCountsUntilItIsClosed) {
  Event& event = open(counting());
  count(5);
  EXPECT_EQ(value(event), 5u);
  core.close(event);
  EXPECT_TRUE(driver.on().empty());
  EXPECT_EQ(driver.opened, 0);
  EXPECT_EQ(driver.disabled, 0);
}

TEST_F(CoreCounting, CpuEventsStayWhenTasksWithoutEventsSwitch) {
  Event& event = **core.open(counting(), -1, 0);
  driver.start(event, PmuDriver::StartMode::keep_period);
  event.hw.interrupts = throttled;
  core.fork(100, 200, 200);
  cpu.switch_to(200);
  EXPECT_EQ(event.hw.interrupts, throttled);  // one that comes back is not
  EXPECT_EQ(driver.on(), std::vector<Event*>{&event});
}

struct Scheduling : CoreCounting {
  /// On the PMU without a break: one that goes on is started.
  static bool stayed(const Event& event) { return event.hw.stopped; }
  Event& marked(const Attr& attr, i32 pid, i32 number) {
    Event& event = open(attr, nullptr, pid, number);
    event.hw.stopped = true;
    return event;
  }
  static Attr pinned() {
    Attr attr = counting();
    attr.pinned = 1;
    return attr;
  }
};

TEST_F(Scheduling, AnEventMakesWayForThoseBeforeItAlone) {  // Linux: ctx_resched
  Event& of_cpu = marked(pinned(), -1, 0);
  Event& of_task = marked(pinned(), 100, -1);
  Event& flexible = marked(counting(), -1, 0);
  open(counting());
  EXPECT_TRUE(stayed(of_cpu) && stayed(of_task) && stayed(flexible));
  open(counting(), nullptr, -1, 0);
  EXPECT_TRUE(stayed(of_cpu) && stayed(of_task));
  EXPECT_FALSE(stayed(flexible));
}

TEST_F(Scheduling, APinnedEventOfATaskComesBeforeTheOthersOfTheCpu) {
  Event& of_cpu = marked(pinned(), -1, 0);
  Event& flexible = marked(counting(), -1, 0);
  open(pinned());
  EXPECT_TRUE(stayed(of_cpu));
  EXPECT_FALSE(stayed(flexible));
}

TEST_F(Scheduling, NothingMakesWayForSoftwareEvents) {
  Event& event = marked(counting(), -1, 0);
  Event& clock = open(software(SoftwareId::task_clock), nullptr, -1, 0);
  EXPECT_TRUE(stayed(event));
  EXPECT_EQ(clock.state, EventState::active);
}

TEST_F(Scheduling, RotationLeavesPinnedEventsWhereTheyAre) {
  Event& first = marked(pinned(), -1, 0);
  for (int i = 0; i < 4; ++i) open(counting(), nullptr, -1, 0);
  const std::vector<Event*> before = driver.on();
  cpu.advance(5'000'000, frame);
  EXPECT_TRUE(stayed(first));
  EXPECT_NE(driver.on(), before);
}

TEST_F(Scheduling, RotationTakesGroupsOffInTheOrderInWhichTheyCame) {  // Linux: perf_rotate_context
  for (int i = 0; i < 5; ++i) open(counting());
  cpu.advance(1'000'000, frame);
  const std::vector<const Event*> on(driver.on().begin(), driver.on().end());
  driver.removed.clear();
  cpu.advance(2'000'000, frame);
  EXPECT_EQ(driver.removed, on);
}

TEST_F(CoreCounting, ATickKeepsThePmuRunningWithNothingToAdjust) {
  open(counting(), nullptr, -1, 0);
  const int before = driver.disabled_times;
  cpu.advance(5'000'000, frame);
  EXPECT_EQ(driver.disabled_times, before);
}

TEST_F(CoreCounting, ADisabledEventCountsFromEnableToDisable) {
  Attr attr = counting();
  attr.disabled = 1;
  Event& event = open(attr);
  count(1);
  core.enable(event);
  count(2);
  core.disable(event);
  count(4);
  EXPECT_EQ(value(event), 2u);
}

TEST_F(CoreCounting, ResetZeroesTheCountAndKeepsTheTimes) {
  Attr attr = counting();
  attr.read_format = all_times;
  Event& event = open(attr);
  count(5);
  cpu.set_time(1000);
  core.reset(event);
  EXPECT_EQ(*core.read(event), (std::vector<u64>{0, 1000, 1000}));
}

TEST_F(CoreCounting, ResetReachesChildrenAndOnRequestMembers) {
  Attr attr = counting();
  attr.inherit = 1;
  Event& leader = open(attr);
  Event& member = open(attr, &leader);
  core.fork(100, 101, 101);
  cpu.switch_to(101);
  count(5);
  core.reset(leader);
  EXPECT_EQ(value(leader), 0u);
  EXPECT_EQ(value(member), 5u);
  core.reset(member, PerfCore::Scope::group);
  EXPECT_EQ(value(member), 0u);
}

TEST_F(CoreCounting, APinnedGroupInErrorTriesAgainWhenItIsEnabled) {
  Attr attr = counting();
  attr.pinned = 1;
  std::vector<Event*> events;
  for (int i = 0; i < 5; ++i) events.push_back(&open(attr));
  core.close(*events[0]);
  core.enable(*events[4]);
  EXPECT_EQ(events[4]->state, EventState::active);
}

TEST_F(CoreCounting, TheGroupFlagEnablesAndDisablesMembersToo) {
  Attr attr = counting();
  attr.disabled = 1;
  Event& leader = open(attr);
  Event& member = open(attr, &leader);
  core.enable(leader);
  EXPECT_EQ(driver.on().size(), 1u);
  core.enable(member, PerfCore::Scope::group);
  EXPECT_EQ(driver.on().size(), 2u);
  core.disable(member, PerfCore::Scope::group);
  EXPECT_TRUE(driver.on().empty());
}

TEST_F(CoreCounting, AGroupReadHasTheLeaderThenMembersInOrder) {
  Attr attr = counting();
  attr.read_format = all_times | read_format::GROUP | read_format::ID | read_format::LOST;
  Event& leader = open(attr);
  Event& second = open(attr, &leader);
  Event& third = open(attr, &leader);
  cpu.set_time(10);
  count(3);
  EXPECT_EQ(*core.read(leader),
            (std::vector<u64>{3, 10, 10, 3, leader.id, 0, 3, second.id, 0, 3, third.id, 0}));
}

TEST_F(CoreCounting, AGroupReadOfAMemberUsesTheMembersFormat) {
  Attr attr = counting();
  Event& leader = open(attr);
  attr.read_format = read_format::GROUP;
  Event& member = open(attr, &leader);
  count(3);
  EXPECT_EQ(*core.read(member), (std::vector<u64>{2, 3, 3}));
}

TEST_F(CoreCounting, AGroupThatDoesNotFitStaysOffWhole) {
  Event& first = open(counting());
  Event& second = open(counting(), &first);
  Event& third = open(counting());
  Event& fourth = open(counting(), &third);
  Event& fifth = open(counting(), &third);
  count(7);
  EXPECT_EQ(value(first) + value(second), 14u);
  EXPECT_EQ(value(third) + value(fourth) + value(fifth), 0u);
}

TEST_F(CoreCounting, EventsThatDoNotFitTakeTurnsAtTicks) {
  Attr attr = counting();
  attr.read_format = all_times;
  std::vector<Event*> events;
  for (int i = 0; i < 5; ++i) events.push_back(&open(attr));
  for (u64 ms = 1; ms <= 5; ++ms) cpu.advance(ms * 1'000'000, frame);
  for (Event* event : events)
    EXPECT_EQ(*core.read(*event), (std::vector<u64>{0, 5'000'000, 4'000'000})) << event->id;
}

TEST_F(CoreCounting, APinnedGroupThatDoesNotFitReadsNothing) {
  Attr attr = counting();
  attr.pinned = 1;
  for (int i = 0; i < 4; ++i) open(attr);
  Event& fifth = open(attr);
  EXPECT_EQ(fifth.state, EventState::error);
  EXPECT_TRUE(core.read(fifth)->empty());
}

TEST_F(CoreCounting, AnExclusiveGroupHasThePmuForItself) {
  Attr attr = counting();
  attr.exclusive = 1;
  open(attr);
  Event& other = open(counting());
  EXPECT_EQ(driver.on().size(), 1u);
  EXPECT_EQ(other.state, EventState::inactive);
}

TEST_F(CoreCounting, MembersOfADisabledLeaderDoNotAgeWithIt) {
  Attr attr = counting();
  attr.read_format = all_times;
  attr.disabled = 1;
  Event& leader = open(attr);
  attr.disabled = 0;
  Event& member = open(attr, &leader);
  cpu.set_time(500);
  EXPECT_EQ(*core.read(member), (std::vector<u64>{0, 0, 0}));
  core.enable(leader);
  cpu.set_time(700);
  EXPECT_EQ(*core.read(member), (std::vector<u64>{0, 200, 200}));
}

TEST_F(CoreCounting, ATasksEventsCountAndAgeOnlyWhileItRuns) {
  Attr attr = counting();
  attr.read_format = all_times;
  Event& event = open(attr);
  count(1);
  cpu.set_time(100);
  cpu.switch_to(0);
  count(10);
  cpu.set_time(300);
  cpu.switch_to(100);
  count(2);
  cpu.set_time(350);
  EXPECT_EQ(*core.read(event), (std::vector<u64>{3, 150, 150}));
}

TEST_F(CoreCounting, TheCpusEventsCountWhoeverRuns) {
  Event& event = open(counting(), nullptr, -1, 0);
  count(1);
  cpu.switch_to(0);
  count(10);
  EXPECT_EQ(value(event), 11u);
}

TEST_F(CoreCounting, TheDriverIsNotifiedOfEverySwitch) {
  driver.calls.clear();
  cpu.switch_to(0);
  EXPECT_EQ(driver.calls, (std::vector<std::string>{"out 100", "in 0"}));
}

TEST_F(CoreCounting, TheDriverIsNotifiedOfSwitchesOfATaskWithEvents) {
  open(counting());
  driver.calls.clear();
  cpu.switch_to(0);
  cpu.switch_to(100);
  EXPECT_EQ(driver.calls, (std::vector<std::string>{"out 100", "in 0", "out 0", "in 100"}));
}

TEST_F(CoreCounting, ATaskThatExitsElsewhereLeavesTheOneThatRuns) {
  core.fork(100, 200, 200);
  driver.calls.clear();
  core.exit(200);
  EXPECT_TRUE(driver.calls.empty());
  core.exit(100);
  EXPECT_EQ(driver.calls, (std::vector<std::string>{"out 100", "in 0"}));
}

// Linux, arch_perf_update_userpage: the zero of TSC times is that of perf's own clock alone.
TEST_F(CoreCounting, APageHasTheZeroOfTimeForEventsOnPerfsOwnClock) {
  Attr attr = sampling(1000);
  EXPECT_NE(map(open(attr)).control().capabilities & ControlPage::cap_user_time_zero, 0u);
  attr.use_clockid = 1;
  attr.clockid = 1;  // CLOCK_MONOTONIC
  EXPECT_EQ(map(open(attr)).control().capabilities & ControlPage::cap_user_time_zero, 0u);
}

TEST_F(CoreCounting, DisablingLeavesCountAndTimesInThePage) {
  Event& event = open(counting());
  const ControlPage& page = map(event).control();
  count(5);
  cpu.set_time(2000);
  core.disable(event);
  cpu.set_time(3000);
  EXPECT_EQ(page.offset, 5);
  EXPECT_EQ(page.time_enabled, 2000u);
  EXPECT_EQ(page.time_running, 2000u);
}

TEST_F(CoreCounting, ChildrensCountsAddUpAliveAndExited) {
  Attr attr = counting();
  attr.inherit = 1;
  Event& event = open(attr);
  count(1);
  core.fork(100, 101, 101);
  cpu.switch_to(101);
  count(10);
  EXPECT_EQ(value(event), 11u);
  cpu.switch_to(100);
  core.exit(101);
  EXPECT_EQ(value(event), 11u);
  EXPECT_TRUE(event.children.empty());
}

/// Times enabled of two events that a child has inherited and for which there is one counter, as it has ended
/// half a millisecond later.
std::pair<u64, u64> enabled_for(Kernel kernel) {
  FakeDriver driver(1);
  CoreOptions options;
  options.limits.kernel = kernel;
  LinuxCore linux_core(driver, options);
  PerfCore& core = linux_core;
  core.task_started(100, 100, "first");
  core.cpu(0).switch_to(100);
  Attr attr;
  attr.type = static_cast<u32>(EventType::raw);
  attr.config = 0xc0;
  attr.inherit = attr.inherit_stat = 1;
  attr.read_format = 1;  // PERF_FORMAT_TOTAL_TIME_ENABLED
  Event *const counts = *core.open(attr, 100, -1, nullptr), *const waits = *core.open(attr, 100, -1, nullptr);
  core.fork(100, 101, 101);
  core.cpu(0).switch_to(101);
  core.cpu(0).advance(500'000, {});
  core.exit(101);
  return {core.read(*counts).value().at(1), core.read(*waits).value().at(1)};
}

// What `pmusim-linux compare --setup task-multiplex` shows of Linux 7.3 and 6.12.
TEST(ChildrensTimes, SinceLinux7_3LackWhatWasWaitedForAtLast) {
  EXPECT_EQ(enabled_for(Kernel::v7_1), std::pair(u64{500'000}, u64{500'000}));
  EXPECT_EQ(enabled_for(Kernel::v7_3), std::pair(u64{500'000}, u64{0}));
}

TEST_F(CoreCounting, TasksWithTheSameInheritedEventsExchangeThem) {
  Attr attr = counting();
  attr.inherit = 1;
  Event& event = open(attr);
  core.fork(100, 200, 200);
  core.fork(200, 300, 300);
  driver.removed.clear();
  for (const u32 task : {200u, 300u, 200u}) {
    cpu.switch_to(task);
    count(1);
  }
  EXPECT_TRUE(driver.removed.empty());
  EXPECT_EQ(value(event), 3u);
  open(counting(), nullptr, 300);
  cpu.switch_to(300);
  EXPECT_FALSE(driver.removed.empty());
}

TEST_F(CoreCounting, InheritStatKeepsTheCountsOfTasksApart) {
  Attr attr = counting();
  attr.inherit = attr.inherit_stat = 1;
  open(attr);
  core.fork(100, 200, 200);
  driver.removed.clear();
  cpu.switch_to(200);
  EXPECT_FALSE(driver.removed.empty());
}

TEST_F(CoreCounting, InheritThreadFollowsThreadsOnly) {
  Attr attr = counting();
  attr.inherit = attr.inherit_thread = 1;
  Event& event = open(attr);
  core.fork(100, 100, 101);
  core.fork(100, 102, 102);
  EXPECT_EQ(event.children.size(), 1u);
}

TEST_F(CoreCounting, EnableOnExecWaitsForExec) {
  Attr attr = counting();
  attr.disabled = attr.enable_on_exec = 1;
  Event& event = open(attr);
  count(1);
  core.exec(100, "second");
  count(2);
  EXPECT_EQ(value(event), 2u);
}

TEST_F(CoreCounting, RemoveOnExecEndsTheEvent) {
  Attr attr = counting();
  attr.remove_on_exec = 1;
  Event& event = open(attr);
  core.exec(100, "second");
  EXPECT_EQ(event.state, EventState::exit);
  EXPECT_TRUE(event.hung_up);
}

TEST_F(CoreCounting, AnEventOfAnExitedTaskKeepsItsCount) {
  Event& event = open(counting());
  count(3);
  core.exit(100);
  EXPECT_EQ(value(event), 3u);
  EXPECT_TRUE(event.hung_up);
}

TEST_F(Scheduling, ClosingALeaderMakesMembersLeadersWhereTheyAre) {  // Linux: perf_group_detach
  Event& leader = open(counting());
  Event& member = open(counting(), &leader);
  member.hw.stopped = true;
  core.close(leader);
  EXPECT_TRUE(member.is_leader());
  EXPECT_TRUE(stayed(member));
  EXPECT_EQ(driver.on(), std::vector<Event*>{&member});
}

TEST_F(CoreCounting, ADependentMemberIsInErrorWithoutItsLeader) {  // Linux: PERF_EV_CAP_SIBLING
  Event& leader = open(counting());
  Event& member = open(counting(), &leader);
  Event& other = open(counting(), &leader);
  member.member_only = true;
  core.close(leader);
  EXPECT_EQ(driver.on(), std::vector<Event*>{&other});
  const auto is_in_error = [&] { return member.state == EventState::error && core.read(member)->empty(); };
  EXPECT_TRUE(is_in_error());
  core.disable(member);
  EXPECT_TRUE(is_in_error());
  core.enable(member);
  EXPECT_TRUE(is_in_error());
}

TEST_F(CoreCounting, MembersAreReadAsSuchOnlyWithTheirWholeGroup) {  // Linux: PERF_PMU_TXN_READ
  Attr whole = counting();
  whole.read_format = read_format::GROUP;
  Event& leader = open(whole);
  Event& member = open(counting(), &leader);
  ASSERT_TRUE(core.read(member).ok());
  EXPECT_TRUE(driver.read_members.empty());
  ASSERT_TRUE(core.read(leader).ok());
  EXPECT_EQ(driver.read_members, std::vector<const Event*>{&member});
}

TEST_F(CoreCounting, AMemberThatIsOffStaysOffWhenItsLeaderIsClosed) {
  Attr off = counting();
  off.disabled = 1;
  Event& leader = open(counting());
  Event& member = open(off, &leader);
  core.close(leader);
  EXPECT_EQ(member.state, EventState::off);
  core.enable(member);
  count(1);
  EXPECT_EQ(value(member), 1u);
}

TEST_F(CoreCounting, TaskClockCountsTheTasksTimeAndDummyNothing) {
  Event& clock = open(software(SoftwareId::task_clock));
  Event& dummy = open(software(SoftwareId::dummy));
  cpu.set_time(100);
  cpu.switch_to(0);
  cpu.set_time(200);
  cpu.switch_to(100);
  cpu.set_time(230);
  EXPECT_EQ(value(clock), 130u);
  EXPECT_EQ(value(dummy), 0u);
}

TEST_F(CoreCounting, ContextSwitchesCountWhenTheTaskLeaves) {
  Event& switches = open(software(SoftwareId::context_switches));
  for (int i = 0; i < 3; ++i) {
    cpu.switch_to(0);
    cpu.switch_to(100);
  }
  EXPECT_EQ(value(switches), 3u);
}

TEST_F(CoreCounting, SoftwareEventsNeedNoRoom) {
  for (int i = 0; i < 5; ++i) open(counting());
  Event& clock = open(software(SoftwareId::cpu_clock));
  EXPECT_EQ(clock.state, EventState::active);
}

}  // namespace
}  // namespace pmusim::perf
