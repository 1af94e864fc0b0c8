// SPDX-License-Identifier: MIT
// What the perf core can put on the PMU together (Linux: x86_schedule_events).
#include <gtest/gtest.h>

#include <cerrno>

#include "driver_fixture.h"

namespace pmusim::driver {
namespace {

using perf::HardwareId;

/// So many events alike, each put on the PMU in its turn.
std::vector<perf::Event*> scheduled(Rig& rig, unsigned count, const perf::Attr& attr) {
  std::vector<perf::Event*> events;
  for (unsigned n = 0; n < count; ++n) {
    events.push_back(&rig.opened(attr));
    EXPECT_TRUE(rig.schedule(*events.back()));
  }
  return events;
}

void throttle(Rig& rig, perf::Event& event) {
  rig.driver.disable();
  rig.driver.stop(event, perf::PmuDriver::StopMode::plain);
  rig.driver.enable();
}

// --- groups and transactions (4.3) ------------------------------------------------------------------------

TEST(Placement, EventsThatDoNotFitLeaveTheOthersAlone) {
  Rig rig(skylake());  // four general counters
  const auto events = scheduled(rig, 4, Rig::raw(0xC4));
  EXPECT_FALSE(rig.schedule(rig.opened(Rig::raw(0xC4))));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(data_of(*events[static_cast<std::size_t>(i)]).index, i);
}

// CPUID.23H.5: EAX and ECX PEBS counters, EBX and EDX those with precise distribution.
TEST(Placement, ArchitecturalPebsIsOnTheCountersThatLeaf23HNames) {
  FakeBus bus = darkmont();
  bus.leaves[{0x23, 5}] = {0x3, 0x2, 0, 0};
  Rig rig(bus);
  perf::Attr precise = Rig::raw(0xC4, 1000);
  precise.precise_ip = 2;
  perf::Event& leader = rig.opened(precise);
  EXPECT_EQ(rig.error_of(precise, &leader), 0);
  EXPECT_EQ(rig.error_of(precise, &leader), EINVAL);
  precise.precise_ip = 3;
  perf::Event& distributed = rig.opened(precise);
  ASSERT_TRUE(rig.schedule(distributed));
  EXPECT_EQ(data_of(distributed).index, 1);
}

TEST(Placement, ANewEventReassignsTheWholeList) {
  Rig rig(skylake());
  const auto events = scheduled(rig, 3, Rig::raw(0xC4));
  rig.unschedule(*events[1]);
  perf::Event& late = rig.opened(Rig::raw(0xC4));
  ASSERT_TRUE(rig.schedule(late));
  EXPECT_EQ(data_of(*events[2]).index, 1);  // moved down, though its own counter was free to stay on
  EXPECT_EQ(data_of(late).index, 2);
}

TEST(Placement, AGroupIsAllOrNothing) {
  Rig rig(skylake());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.schedule(rig.opened(Rig::raw(0xC4))));
  perf::Event& leader = rig.opened(Rig::raw(0xC4));
  rig.opened(Rig::raw(0xC5), &leader);
  EXPECT_FALSE(rig.schedule(leader));
  EXPECT_EQ(data_of(leader).index, -1);
  EXPECT_TRUE(rig.schedule(rig.opened(Rig::raw(0xC4))));
}

TEST(Placement, EventsKeepTheirCountersAndCountWhenOthersCome) {
  Rig rig(skylake());
  perf::Event& first = rig.opened(Rig::raw(0xC4));
  rig.schedule(first);
  rig.bus.writes.clear();
  rig.schedule(rig.opened(Rig::raw(0xC5)));
  EXPECT_EQ(data_of(first).index, 0);
  for (const auto& [address, value] : rig.bus.writes) EXPECT_NE(address, msr::PERFEVTSEL0);
}

TEST(Placement, AnEventThatHasToMoveTakesItsCountAndPeriodAlong) {
  Rig rig(haswell());
  perf::Event& anywhere = rig.opened(Rig::raw(0xC4, 1000));
  rig.schedule(anywhere);
  ASSERT_EQ(data_of(anywhere).index, 0);
  std::vector<perf::Event*> others;
  for (int i = 0; i < 2; ++i) others.push_back(&rig.opened(Rig::raw(0xC5)));
  for (perf::Event* event : others) rig.schedule(*event);
  rig.count(anywhere, 300);
  perf::Event& narrow = rig.opened(Rig::raw(0x08A3));  // GP 2 only, which the last of the others holds
  ASSERT_TRUE(rig.schedule(narrow));
  EXPECT_EQ(data_of(narrow).index, 2);
  perf::Event& moved = *others[1];
  EXPECT_EQ(data_of(moved).index, 3);
  EXPECT_FALSE(moved.hw.stopped);
  EXPECT_EQ(data_of(anywhere).index, 0);
  rig.driver.read(anywhere);
  EXPECT_EQ(anywhere.count, 300u);
}

TEST(Placement, AnEventComesBackToTheCounterItHad) {
  Rig rig(skylake());
  perf::Event& first = rig.opened(Rig::raw(0xC4));
  perf::Event& second = rig.opened(Rig::raw(0xC5));
  rig.schedule(first);
  rig.schedule(second);
  rig.unschedule(first);
  rig.unschedule(second);
  rig.schedule(second);
  EXPECT_EQ(data_of(second).index, 1);
}

TEST(Placement, AThrottledEventThatHasToMoveStaysStopped) {
  Rig rig(haswell());
  const auto events = scheduled(rig, 3, Rig::raw(0xC4, 1000));
  throttle(rig, *events[2]);
  ASSERT_TRUE(rig.schedule(rig.opened(Rig::raw(0x08A3))));
  EXPECT_EQ(data_of(*events[2]).index, 3);
  EXPECT_TRUE(events[2]->hw.stopped);
}

TEST(Placement, ACounterIsStoppedBeforeItChangesHands) {
  Rig rig(haswell());
  for (int i = 0; i < 3; ++i) rig.schedule(rig.opened(Rig::raw(0xC4)));
  rig.bus.writes.clear();
  ASSERT_TRUE(rig.schedule(rig.opened(Rig::raw(0x08A3))));  // GP 2 only, which the last one holds
  std::vector<bool> enabled;
  for (const auto& [address, value] : rig.bus.writes)
    if (address == msr::PERFEVTSEL0 + 2) enabled.push_back((value & msr::evtsel::EN) != 0);
  EXPECT_EQ(enabled, (std::vector{false, true}));
}

// --- transactions (4.3) -----------------------------------------------------------------------------------

TEST(Transaction, AddsCollectAndCommitSchedules) {
  Rig rig(skylake());
  rig.driver.disable();
  rig.driver.begin();
  std::vector<perf::Event*> events;
  for (int i = 0; i < 5; ++i) {
    events.push_back(&rig.opened(Rig::raw(0xC4)));
    EXPECT_TRUE(rig.driver.add(*events.back()));  // the fifth, too
  }
  EXPECT_FALSE(rig.driver.commit());
  rig.driver.cancel();
  rig.driver.enable();
  for (const perf::Event* event : events) EXPECT_EQ(data_of(*event).index, -1);
}

TEST(Transaction, CancelDropsOnlyItsEventsAndFreesTheirRegisters) {
  Rig rig(nehalem());
  perf::Event& before = rig.opened(Rig::raw(0xC4));
  rig.schedule(before);
  rig.driver.disable();
  rig.driver.begin();
  ASSERT_TRUE(rig.driver.add(rig.opened(Rig::with_value(0x01B7, 0x11))));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.driver.add(rig.opened(Rig::raw(0xC4))));
  ASSERT_FALSE(rig.driver.commit());
  rig.driver.cancel();
  rig.driver.enable();
  EXPECT_EQ(data_of(before).index, 0);
  EXPECT_TRUE(rig.schedule(rig.opened(Rig::with_value(0x01B7, 0x12))));
}

TEST(Transaction, OutsideOfOneEachAddSchedulesAtOnce) {
  Rig rig(skylake());
  rig.driver.disable();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(rig.driver.add(rig.opened(Rig::raw(0xC4))));
  EXPECT_FALSE(rig.driver.add(rig.opened(Rig::raw(0xC4))));
  rig.driver.enable();
}

TEST(Transaction, AFailedAddOutsideOfOneKeepsTheOthersRegisters) {
  TwoThreads threads(nehalem);  // which share the register
  threads.a.driver.disable();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(threads.a.driver.add(threads.a.opened(Rig::raw(0xC4))));
  ASSERT_TRUE(threads.a.driver.add(threads.a.opened(Rig::with_value(0x01B7, 0x11))));
  EXPECT_FALSE(threads.a.driver.add(threads.a.opened(Rig::raw(0xC4))));
  threads.a.driver.enable();
  EXPECT_FALSE(threads.b.schedule(threads.b.opened(Rig::with_value(0x01B7, 0x12))));
}

// --- validation of groups (4.3) ---------------------------------------------------------------------------

TEST(GroupValidation, AGroupThatCanNeverFitIsRefusedAtOpen) {
  Rig rig(skylake());
  perf::Event& leader = rig.opened(Rig::raw(0xC4));
  for (int i = 0; i < 3; ++i) rig.opened(Rig::raw(0xC5), &leader);
  EXPECT_EQ(rig.error_of(Rig::raw(0xC6), &leader), EINVAL);
  EXPECT_EQ(rig.refusal, "group_fd: the group's 5 events do not fit on the counters together");
  EXPECT_EQ(rig.error_of(Rig::generic(HardwareId::instructions), &leader), 0);  // a fixed counter is free
}

TEST(GroupValidation, DisabledMembersAreNotCountedIn) {  // known gap: it fails when they are enabled
  Rig rig(skylake());
  perf::Event& leader = rig.opened(Rig::raw(0xC4));
  for (int i = 0; i < 3; ++i) rig.opened(Rig::raw(0xC5), &leader).state = perf::EventState::off;
  EXPECT_EQ(rig.error_of(Rig::raw(0xC6), &leader), 0);
  EXPECT_FALSE(rig.schedule(leader));
}

/// Reloadable events may use GP 2-7, store latency, before Linux 7.3, GP 0-5: constraints that cross, of
/// equal weight.
unsigned members_that_fit(const std::vector<perf::Attr>& attrs) {
  Rig rig(skymont(), {.kernel = perf::Kernel::v7_1});
  perf::Event* leader = nullptr;
  unsigned members = 0;
  for (const perf::Attr& attr : attrs) {
    perf::Event& event = rig.make(attr, leader);
    if (rig.open(event) != 0) return members;
    if (leader == nullptr) leader = &event;
    ++members;
  }
  return members;
}

TEST(GroupValidation, TheResultMayDependOnTheOrderOfTheMembers) {
  const perf::Attr stores = Rig::precise(0x06D0, 1);
  perf::Attr reloaded = Rig::raw(0xC4, 1000);
  reloaded.config2 = bit(0);  // positions of the first of them
  std::vector<perf::Attr> stores_last(5, reloaded), stores_first(3, stores);
  for (int i = 0; i < 3; ++i) stores_last.push_back(stores);
  reloaded.config2 = bit(3);
  for (int i = 0; i < 5; ++i) stores_first.push_back(reloaded);
  EXPECT_EQ(members_that_fit(stores_first), 8u);
  EXPECT_EQ(members_that_fit(stores_last), 7u);
}

TEST(GroupValidation, GracemontRefusesLoadLatencyBetweenPdirEvents) {
  const auto members_of = [](std::initializer_list<perf::Attr> attrs) {
    Rig rig(part(6, 0xBE));
    perf::Event* leader = nullptr;
    for (const perf::Attr& attr : attrs) {
      perf::Event& event = rig.opened(attr, leader);
      if (leader == nullptr) leader = &event;
    }
    return 1 + leader->siblings.size();
  };
  const perf::Attr instructions = Rig::precise(0x00C0, 3), latency = Rig::precise(0x05D0, 2);
  EXPECT_EQ(members_of({instructions, instructions, latency}), 3u);
  EXPECT_EQ(members_of({instructions, latency, instructions}), 2u);
}

TEST(GroupValidation, AGroupHasNoMoreMembersThanThereAreCounters) {
  FakeBus with_trace = skylake();
  with_trace.leaves[{1, 0}].ecx |= cpuid_ds_cpl;
  Rig rig(with_trace);
  perf::Attr every_branch = Rig::generic(HardwareId::branch_instructions, 1);
  every_branch.exclude_kernel = 1;
  perf::Event& trace = rig.opened(every_branch);  // needs no counter
  for (const u64 fixed : {0x00C0, 0x003C, 0x0300}) EXPECT_EQ(rig.error_of(Rig::raw(fixed), &trace), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rig.error_of(Rig::raw(0xC5), &trace), 0);
  EXPECT_EQ(rig.error_of(Rig::raw(0xC5), &trace), EINVAL);  // though GP 3 is free
  EXPECT_EQ(rig.refusal, "group_fd: the group's 8 events do not fit on the counters together");
  ASSERT_TRUE(rig.schedule(trace));
  EXPECT_EQ(data_of(trace).index, 47);
  EXPECT_FALSE(rig.schedule(rig.opened(Rig::raw(0xC5))));  // the limit is the same for all groups together
}

TEST(GroupValidation, EachMetricIsRoomForOneMoreMember) {  // Linux: collect_event
  FakeBus with_trace = ice_lake();
  with_trace.leaves[{1, 0}].ecx |= cpuid_ds_cpl;
  with_trace.msrs[msr::PERF_CAPABILITIES] |= msr::perf_cap::PERF_METRICS;
  constexpr unsigned counters = 12, metrics = 4;
  Rig rig(with_trace);
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  unsigned members = 1;
  for (u64 n = 0; n < metrics; ++n) members += rig.error_of(Rig::raw(0x8000 | n << 8), &slots) == 0;
  for (const u64 fixed : {0x00C0, 0x003C}) members += rig.error_of(Rig::raw(fixed), &slots) == 0;
  for (int i = 0; i < 8; ++i) members += rig.error_of(Rig::raw(0xC5), &slots) == 0;
  perf::Attr every_branch = Rig::generic(HardwareId::branch_instructions, 1);
  every_branch.exclude_kernel = 1;
  EXPECT_EQ(rig.error_of(every_branch, &slots), 0);  // needs no counter
  EXPECT_EQ(members + 1, counters + metrics);
  EXPECT_EQ(rig.error_of(Rig::raw(0x0300), &slots), EINVAL) << "though its fixed counter is free";
}

TEST(GroupValidation, OtherGroupsOnThePmuDoNotMatter) {
  Rig rig(skylake());
  for (int i = 0; i < 4; ++i) rig.schedule(rig.opened(Rig::raw(0xC4)));
  EXPECT_EQ(rig.error_of(Rig::raw(0xC5)), 0);
}

TEST(GroupValidation, AnEventWithoutAnyCounterIsRefused) {
  Rig rig(nehalem());
  EXPECT_EQ(rig.error_of(Rig::precise(0x0151, 1)), EINVAL);
  EXPECT_EQ(rig.refusal, "config: no counter of this CPU can count the event");
}

// --- hyper-threading exclusivity (4.4) --------------------------------------------------------------------

constexpr u64 loads = 0x81D0;  // exclusive on Sandy Bridge to Haswell

TEST(HyperThreading, AnExclusiveEventAvoidsTheSiblingsCounters) {
  TwoThreads threads(sandy_bridge);
  threads.a.schedule(threads.a.opened(Rig::raw(0xC4)));  // GP 0
  perf::Event& exclusive = threads.b.opened(Rig::raw(loads));
  ASSERT_TRUE(threads.b.schedule(exclusive));
  EXPECT_EQ(data_of(exclusive).index, 1);
}

TEST(HyperThreading, ACounterOfAnExclusiveEventIsNotShared) {
  TwoThreads threads(sandy_bridge);
  threads.a.schedule(threads.a.opened(Rig::raw(loads)));  // GP 0
  perf::Event& other = threads.b.opened(Rig::raw(0xC4));
  ASSERT_TRUE(threads.b.schedule(other));
  EXPECT_EQ(data_of(other).index, 1);
}

TEST(HyperThreading, ExclusiveEventsHalveTheCountersOfEachThread) {
  TwoThreads threads(sandy_bridge);
  perf::Event& exclusive = threads.a.opened(Rig::raw(loads));
  threads.a.schedule(exclusive);
  ASSERT_TRUE(threads.b.schedule(threads.b.opened(Rig::raw(0xC4))));
  ASSERT_TRUE(threads.b.schedule(threads.b.opened(Rig::raw(0xC4))));
  perf::Event& third = threads.b.opened(Rig::raw(0xC4));
  EXPECT_FALSE(threads.b.schedule(third));
  threads.a.unschedule(exclusive);
  EXPECT_TRUE(threads.b.schedule(third));
}

TEST(HyperThreading, OpeningAGroupIgnoresWhatTheSiblingUses) {
  TwoThreads threads(sandy_bridge);
  threads.a.schedule(threads.a.opened(Rig::raw(loads)));
  perf::Event& leader = threads.b.opened(Rig::raw(0xC4));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(threads.b.error_of(Rig::raw(0xC5), &leader), 0);
  EXPECT_FALSE(threads.b.schedule(leader));  // two counters for each thread
}

TEST(HyperThreading, ACounterIsFreeForTheSiblingOnceItsEventLeaves) {
  TwoThreads threads(sandy_bridge);
  perf::Event& first = threads.a.opened(Rig::raw(0xC4));
  perf::Event& second = threads.a.opened(Rig::raw(loads));
  perf::Event& exclusive = threads.b.opened(Rig::raw(loads));
  for (perf::Event* event : {&first, &second}) {
    threads.a.schedule(*event);
    threads.a.unschedule(*event);
  }
  ASSERT_TRUE(threads.b.schedule(exclusive));
  EXPECT_EQ(data_of(exclusive).index, 0);
}

TEST(HyperThreading, WithoutASiblingExclusiveEventsUseEveryCounter) {
  Rig rig(sandy_bridge());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(rig.schedule(rig.opened(Rig::raw(loads))));
}

TEST(HyperThreading, LaterCoresAndSingleThreadsAreNotRestricted) {
  TwoThreads threads(skylake);
  threads.a.schedule(threads.a.opened(Rig::raw(loads)));
  perf::Event& other = threads.b.opened(Rig::raw(loads));
  ASSERT_TRUE(threads.b.schedule(other));
  EXPECT_EQ(data_of(other).index, 0);
}

// --- counters and events that come with strings attached (4.2) ---------------------------------------

TEST(TransactionalAborts, Counter3IsClaimedOnlyWhileItIsUsed) {
  Rig rig(skylake_with_tsx());
  for (int i = 0; i < 3; ++i) rig.schedule(rig.opened(Rig::raw(0xC4)));
  EXPECT_EQ(rig.bus.msrs[msr::TSX_FORCE_ABORT], 0u);
  perf::Event& fourth = rig.opened(Rig::raw(0xC4));
  ASSERT_TRUE(rig.schedule(fourth));
  EXPECT_EQ(rig.bus.msrs[msr::TSX_FORCE_ABORT], 1u);
  rig.unschedule(fourth);
  EXPECT_EQ(rig.bus.msrs[msr::TSX_FORCE_ABORT], 0u);
}

TEST(TransactionalAborts, Counter3StaysClaimedWhenOthersLeave) {
  Rig rig(skylake_with_tsx());
  const auto events = scheduled(rig, 4, Rig::raw(0xC4, 1000));
  throttle(rig, *events[2]);
  EXPECT_EQ(rig.bus.msrs[msr::TSX_FORCE_ABORT], 1u) << "counter 2 is throttled";
  rig.unschedule(*events[2]);
  EXPECT_EQ(rig.bus.msrs[msr::TSX_FORCE_ABORT], 1u) << "counter 2 is free";
  throttle(rig, *events[3]);
  EXPECT_EQ(rig.bus.msrs[msr::TSX_FORCE_ABORT], 0u);
}

TEST(TransactionalAborts, Counter3IsUnusedWhereTheyAreForbidden) {
  Rig rig(skylake_with_tsx(), {.transaction_aborts = TransactionAborts::forbidden});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.schedule(rig.opened(Rig::raw(0xC4))));
  EXPECT_FALSE(rig.schedule(rig.opened(Rig::raw(0xC4))));
}

// --- branch counter logging (4.7; what may be logged is in lbr_setup_test.cpp) ----------------------------

TEST(LoggedEvents, HaveTheFirstCountersForThemselvesBeforeOthers) {
  Rig rig(lion_cove());
  perf::Attr attr = Rig::raw(0xC4, 1000);
  attr.sample_type = perf::sample::BRANCH_STACK;
  attr.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  perf::Event& leader = rig.opened(attr);
  perf::Attr logged = Rig::raw(0xC5);
  logged.branch_sample_type = perf::branch::COUNTERS | perf::branch::USER;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(rig.error_of(logged, &leader), 0);
  ASSERT_TRUE(rig.schedule(leader));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(data_of(*leader.siblings[static_cast<std::size_t>(i)]).index, i);
  EXPECT_EQ(data_of(leader).index, 4);
}

// --- the event that keeps the LBR on for a guest (4.1, 4.2)
// -------------------------------------------------

perf::Attr guest_lbr() {
  perf::Attr attr = Rig::raw(0x1B00);
  attr.sample_type = perf::sample::BRANCH_STACK;
  attr.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  return attr;
}

TEST(GuestLbr, NeedsNoCounterAndCountsNothing) {
  Rig rig(skylake());
  for (int i = 0; i < 4; ++i) rig.schedule(rig.opened(Rig::raw(0xC4)));
  perf::Event& event = rig.opened(guest_lbr());
  rig.bus.writes.clear();
  ASSERT_TRUE(rig.schedule(event));
  EXPECT_EQ(data_of(event).index, 58);
  EXPECT_NE(rig.bus.msrs[msr::DEBUGCTL] & msr::debugctl::LBR, 0u);
  rig.driver.read(event);
  EXPECT_EQ(event.count, 0u);
  rig.unschedule(event);
  EXPECT_EQ(rig.bus.msrs[msr::DEBUGCTL] & msr::debugctl::LBR, 0u);
  EXPECT_EQ(rig.driver.statistics().faults.count, 0u);
}

TEST(GuestLbr, ForcesNoFilterOnOtherEvents) {
  Rig rig(skylake());
  perf::Attr calls = guest_lbr();
  calls.config = 0xC4;
  calls.branch_sample_type = perf::branch::ANY_CALL | perf::branch::USER;
  perf::Event& event = rig.opened(calls);
  ASSERT_TRUE(rig.schedule(event));
  const u64 filter = rig.bus.msrs[msr::LBR_SELECT];
  EXPECT_TRUE(rig.schedule(rig.opened(guest_lbr())));
  EXPECT_EQ(rig.bus.msrs[msr::LBR_SELECT], filter);
}

TEST(GuestLbr, IsNotPrecise) {
  Rig rig(skylake());
  EXPECT_EQ(rig.error_of(Rig::precise(0x1B00, 1)), EINVAL);
  EXPECT_EQ(rig.refusal, "precise_ip: the guest LBR event counts nothing that could be precise");
}

}  // namespace
}  // namespace pmusim::driver
