// SPDX-License-Identifier: MIT
// Enabling, resetting and switching tasks (Linux: __intel_pmu_lbr_enable, intel_pmu_lbr_sched_task).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "driver_fixture.h"
#include "lbr_fixture.h"
#include "perf/context.h"

namespace pmusim::driver::lbr_switch_test {
namespace {

using namespace perf::branch;
using Direction = perf::PmuDriver::SwitchDirection;
using Mode = LbrDriver::EnableMode;
using msr::debugctl::FREEZE_LBRS_ON_PMI;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
constexpr u32 FROM = msr::LBR_NHM_FROM_IP, TO = msr::LBR_NHM_TO_IP;

/// A rig with one event on the PMU.
class LbrSwitch : public LbrRig {
 public:
  LbrSwitch(FakeBus cpu, u64 request, perf::Kernel kernel = perf::default_kernel,
            perf::Context* context = nullptr)
      : LbrRig(std::move(cpu), kernel), user(event(request)) {
    user.context = context;
    EXPECT_EQ(open(user), 0);
    lbr.add(user);
    bus.writes.clear();
  }
  /// Calls of frames at `sources`, newest first, the newest in slot `top`.
  void put_stack(u32 top, std::initializer_list<u64> sources) {
    put(msr::LBR_TOS, top);
    u32 slot = top;
    for (u64 from : sources) {
      put(FROM + slot, from), put(TO + slot, from + 0x100);
      slot = (slot - 1) & 31;
    }
  }
  void run_another_task() {
    lbr.context_switch(Direction::in, {2, 2});
    for (u32 i = 0; i < 32; ++i) put(FROM + i, 0xBAD), put(TO + i, 0xBAD);
    put(msr::LBR_TOS, 17);
    lbr.context_switch(Direction::out, {2, 2});
  }
  perf::Event user;
};

TEST(LbrEnable, LegacyWritesTheFilterThenDebugctlWithFreeze) {
  LbrSwitch rig(skylake(), ANY | USER);
  rig.lbr.enable(Mode::full);
  EXPECT_THAT(rig.bus.writes, ElementsAre(Pair(msr::LBR_SELECT, 0x1u), Pair(msr::DEBUGCTL, 0x801u)));
  rig.lbr.disable();
  EXPECT_EQ(rig.value(msr::DEBUGCTL), 0u);
}

TEST(LbrEnable, TheMarkForInfoIsNotWritten) {
  LbrSwitch rig(skylake(), ANY | USER | NO_FLAGS | NO_CYCLES);
  rig.lbr.enable(Mode::full);
  EXPECT_EQ(rig.value(msr::LBR_SELECT), 0x1u);
}

TEST(LbrEnable, CallStacksDoNotFreeze) {
  LbrSwitch rig(skylake(), CALL_STACK | USER);
  rig.put(msr::DEBUGCTL, FREEZE_LBRS_ON_PMI);
  rig.lbr.enable(Mode::full);
  EXPECT_EQ(rig.value(msr::LBR_SELECT), 0x3C5u);
  EXPECT_EQ(rig.value(msr::DEBUGCTL), msr::debugctl::LBR);
}

TEST(LbrEnable, ArchitecturalWritesItsOwnControl) {
  LbrSwitch rig(lion_cove(), ANY | USER);
  rig.lbr.enable(Mode::full);
  EXPECT_THAT(rig.bus.writes,
              ElementsAre(Pair(msr::DEBUGCTL, FREEZE_LBRS_ON_PMI), Pair(msr::ARCH_LBR_CTL, 0x7F0005u)));
  rig.lbr.disable();
  EXPECT_EQ(rig.value(msr::ARCH_LBR_CTL), 0u);
}

TEST(LbrEnable, AfterAnInterruptVersion4HasAlreadyUnfrozen) {
  LbrSwitch rig(skylake(), ANY | USER);
  rig.lbr.enable(Mode::after_pmi);
  EXPECT_THAT(rig.bus.writes, IsEmpty());
}

TEST(LbrEnable, AfterAPmiVersion3EnablesRecordingAndKeepsTheFilter) {
  LbrSwitch rig(haswell(), ANY | USER);
  rig.lbr.enable(Mode::after_pmi);
  EXPECT_THAT(rig.bus.writes, ElementsAre(Pair(msr::DEBUGCTL, 0x801u)));
}

TEST(LbrEnable, WithoutUsersNothingIsTouched) {
  LbrRig rig(skylake());
  rig.lbr.enable(Mode::full);
  rig.lbr.disable();
  rig.lbr.context_switch(Direction::in, {1, 1});
  EXPECT_THAT(rig.bus.writes, IsEmpty());
}

TEST(LbrReset, HappensAtTheFirstUserThatNeverRan) {
  LbrRig rig(skylake());
  perf::Event first = LbrRig::event(ANY | USER), second = LbrRig::event(ANY | USER);
  ASSERT_EQ(rig.open(first), 0);
  rig.put(FROM, 0x1234);
  rig.lbr.add(first);
  EXPECT_EQ(rig.value(FROM), 0u);
  rig.put(FROM, 0x1234);
  second.leader = &second;
  ASSERT_EQ(rig.open(second), 0);
  rig.lbr.add(second);
  EXPECT_EQ(rig.value(FROM), 0x1234u);
}

TEST(LbrReset, HappensWhenTheLeaderOfALoggedGroupLeaves) {
  LbrSwitch rig(lion_cove(), ANY | USER);
  perf::Event logged = LbrRig::event(COUNTERS | USER);
  logged.leader = &rig.user;
  rig.user.siblings = {&logged};
  rig.lbr.remove(rig.user);
  EXPECT_THAT(rig.bus.writes, ElementsAre(Pair(msr::ARCH_LBR_DEPTH, 32u)));
}

TEST(LbrReset, OfArchitecturalLbrIsAWriteOfDepth) {
  LbrRig rig(lion_cove());
  rig.lbr.reset();
  EXPECT_THAT(rig.bus.writes, ElementsAre(Pair(msr::ARCH_LBR_DEPTH, 32u)));
}

TEST(TaskSwitch, WithoutCallStacksAnIncomingTaskStartsEmpty) {
  LbrSwitch rig(skylake(), ANY | USER);
  rig.put(FROM, 0x1234);
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.lbr.context_switch(Direction::in, {1, 1});
  EXPECT_EQ(rig.value(FROM), 0u);
}

TEST(TaskSwitch, ACallStackComesBackWithItsTask) {
  LbrSwitch rig(skylake(), CALL_STACK | USER);
  rig.put_stack(1, {0x3000, 0x2000, 0x1000});  // slots 1, 0, 31
  rig.put(msr::LBR_INFO_0 + 1, 5);
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.run_another_task();
  rig.lbr.context_switch(Direction::in, {1, 1});
  EXPECT_EQ(rig.value(msr::LBR_TOS), 1u);
  EXPECT_EQ(rig.value(FROM + 1), 0x3000u);
  EXPECT_EQ(rig.value(TO + 1), 0x3100u);
  EXPECT_EQ(rig.value(msr::LBR_INFO_0 + 1), 5u);
  EXPECT_EQ(rig.value(FROM + 0), 0x2000u);
  EXPECT_EQ(rig.value(FROM + 31), 0x1000u);
  EXPECT_EQ(rig.value(FROM + 30), 0u);
}

/// What comes back to a task under a call stack event.
u64 source_after_switches(perf::Kernel kernel, perf::Context& context) {
  LbrSwitch rig(skylake(), CALL_STACK | USER, kernel, &context);
  rig.put_stack(1, {0x3000});
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.run_another_task();
  rig.lbr.context_switch(Direction::in, {1, 1});
  return rig.value(FROM + 1);
}

TEST(TaskSwitch, BeforeLinux6_15CallStacksOfTheCpuAreNotKept) {
  const perf::Cgroup everybody;
  perf::Task task(1, 1, "", everybody);
  perf::Context cpu(nullptr);
  EXPECT_EQ(source_after_switches(perf::Kernel::v6_14, cpu), 0u);
  EXPECT_EQ(source_after_switches(perf::Kernel::v6_14, *task.context), 0x3000u);
  EXPECT_EQ(source_after_switches(perf::Kernel::v6_15, cpu), 0x3000u);
}

/// What `second` finds of its stack as it comes back, with an event that was opened for thread 1 on the PMU
/// all the time.
u64 source_of_the_second(perf::Kernel kernel, u32 second) {
  const perf::Cgroup everybody;
  perf::Task task(1, 1, "", everybody);
  LbrSwitch rig(skylake(), CALL_STACK | USER, kernel, task.context.get());
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.lbr.context_switch(Direction::in, {second, second});
  rig.put_stack(1, {0x5000});
  rig.lbr.context_switch(Direction::out, {second, second});
  rig.lbr.context_switch(Direction::in, {1, 1});
  rig.put_stack(1, {0x3000});
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.lbr.context_switch(Direction::in, {second, second});
  return rig.value(FROM + 1);
}

// Linux 7.3: the area for the stack hangs on the task and counts the events that were opened for it.
TEST(TaskSwitch, SinceLinux7_3ATaskThatGotAnothersEventsHasNoStack) {
  EXPECT_EQ(source_of_the_second(perf::Kernel::v7_3, 2), 0u);
  EXPECT_EQ(source_of_the_second(perf::Kernel::v7_1, 2), 0x5000u);
}

TEST(TaskSwitch, SinceLinux7_3TheIdleTaskHasNoStack) {
  EXPECT_EQ(source_of_the_second(perf::Kernel::v7_3, 0), 0u);
  EXPECT_EQ(source_of_the_second(perf::Kernel::v7_1, 0), 0x5000u);
}

TEST(TaskSwitch, ATaskThatReturnsFindsNoBranchesOfOthers) {
  Rig rig(skylake());
  perf::Attr attr = Rig::raw(0xC4, 1000);
  attr.sample_type = perf::sample::BRANCH_STACK;
  attr.branch_sample_type = ANY | USER;
  attr.exclude_kernel = 1;
  perf::Event& event = rig.opened(attr);
  event.time_running = 1;  // it is not new
  rig.driver.disable();
  ASSERT_TRUE(rig.driver.add(event));
  rig.bus.writes.clear();
  rig.driver.context_switch(Direction::in, {1, 1});
  rig.driver.enable();
  EXPECT_NE(std::ranges::find(rig.bus.writes, std::make_pair(FROM, u64{0})), rig.bus.writes.end());
}

TEST(TaskSwitch, ATaskWithoutHistoryStartsEmpty) {
  LbrSwitch rig(skylake(), CALL_STACK | USER);
  rig.put_stack(1, {0x3000});
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.lbr.context_switch(Direction::in, {2, 2});
  EXPECT_EQ(rig.value(FROM + 1), 0u);
}

TEST(TaskSwitch, RegistersThatNobodyTouchedAreKept) {
  LbrSwitch rig(skylake(), CALL_STACK | USER);
  rig.put_stack(1, {0x3000});
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.bus.writes.clear();
  rig.lbr.context_switch(Direction::in, {1, 1});
  EXPECT_THAT(rig.bus.writes, IsEmpty());
}

TEST(TaskSwitch, RegistersThatADeepCStateClearedAreRestored) {
  LbrSwitch rig(skylake(), CALL_STACK | USER);
  rig.put_stack(1, {0x3000});
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.put(FROM + 1, 0);
  rig.lbr.context_switch(Direction::in, {1, 1});
  EXPECT_EQ(rig.value(FROM + 1), 0x3000u);
}

TEST(TaskSwitch, WhatWasSavedIsUsedOnce) {
  LbrSwitch rig(skylake(), CALL_STACK | USER);
  rig.put_stack(1, {0x3000});
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.run_another_task();
  rig.lbr.context_switch(Direction::in, {1, 1});
  rig.lbr.context_switch(Direction::in, {1, 1});
  EXPECT_EQ(rig.value(FROM + 1), 0u);
}

TEST(TaskSwitch, KernelCallStacksAloneAreNotSaved) {
  LbrSwitch rig(skylake(), CALL_STACK | KERNEL);
  rig.put_stack(1, {0x3000});
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.lbr.context_switch(Direction::in, {1, 1});
  EXPECT_EQ(rig.value(FROM + 1), 0u);
}

TEST(TaskSwitch, WithoutTsxRestoresKernelSourcesSignExtended) {
  LbrSwitch rig(haswell_without_tsx(), CALL_STACK | USER);
  rig.put(msr::LBR_TOS, 1);
  rig.put(FROM + 1, 0x1FFFFFFF81000010), rig.put(TO + 1, 0x1000);
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.put(FROM + 1, 0);
  rig.lbr.context_switch(Direction::in, {1, 1});
  EXPECT_EQ(rig.value(FROM + 1), 0x7FFFFFFF81000010u);
}

TEST(TaskSwitch, ArchitecturalEntriesComeBackAfterADepthWrite) {
  LbrSwitch rig(lion_cove(), CALL_STACK | USER);
  rig.put(msr::ARCH_LBR_FROM_0, 0x1000), rig.put(msr::ARCH_LBR_TO_0, 0x2000);
  rig.put(msr::ARCH_LBR_INFO_0, 0x0400000000000000);
  rig.lbr.context_switch(Direction::out, {1, 1});
  rig.lbr.context_switch(Direction::in, {2, 2});
  rig.lbr.context_switch(Direction::out, {2, 2});
  rig.put(msr::ARCH_LBR_FROM_0, 0xBAD);
  rig.bus.writes.clear();
  rig.lbr.context_switch(Direction::in, {1, 1});
  EXPECT_THAT(rig.bus.writes, ElementsAre(Pair(msr::ARCH_LBR_DEPTH, 32u), Pair(msr::ARCH_LBR_FROM_0, 0x1000u),
                                          Pair(msr::ARCH_LBR_TO_0, 0x2000u),
                                          Pair(msr::ARCH_LBR_INFO_0, 0x0400000000000000u)));
}

TEST(TaskSwitch, TheFilterKnowsWhoseCodeItIs) {
  LbrSwitch rig(skylake(), ANY_RETURN | USER);
  rig.lbr.context_switch(Direction::in, {1, 1});
  rig.put_stack(1, {0x3000});
  rig.code.put(0x3000, {0xC3});
  rig.lbr.read_in_pmi(rig.code);
  EXPECT_EQ(rig.lbr.stack(rig.user)->entries.size(), 1u);
  rig.lbr.context_switch(Direction::in, {2, 2});
  rig.put_stack(1, {0x3000});
  rig.code.put(0x3000, {0x74, 0x10});
  rig.lbr.read_in_pmi(rig.code);
  EXPECT_THAT(rig.lbr.stack(rig.user)->entries, IsEmpty());
}

TEST(TaskSwitch, TheFilterReadsCodeOnceForAllThreadsOfAProcess) {
  LbrSwitch rig(skylake(), ANY_RETURN | USER);
  rig.code.put(0x3000, {0xC3});
  for (const perf::TaskId thread : {perf::TaskId{1, 1}, perf::TaskId{1, 2}, perf::TaskId{1, 1}}) {
    rig.lbr.context_switch(Direction::in, thread);
    rig.put_stack(1, {0x3000});
    rig.lbr.read_in_pmi(rig.code);
    EXPECT_EQ(rig.lbr.stack(rig.user)->entries.size(), 1u);
  }
  EXPECT_EQ(rig.code.reads, 1u);
}

}  // namespace
}  // namespace pmusim::driver::lbr_switch_test
