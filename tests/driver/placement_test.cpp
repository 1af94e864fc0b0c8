// What the perf core can put on the PMU together: reference "Counter scheduling", 4.3 to 4.5 and 4.7.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "driver_fixture.h"

namespace pmusim::driver {
namespace {

using perf::HardwareId;

perf::Attr offcore(u16 event, u64 value) {
  perf::Attr attr = Rig::raw(event);
  attr.config1 = value;
  return attr;
}

// --- groups and transactions (4.3) ------------------------------------------------------------------------

TEST(Placement, EventsThatDoNotFitLeaveTheOthersAlone) {
  Rig rig(skylake());  // four general counters
  std::vector<perf::Event*> events;
  for (int i = 0; i < 4; ++i) {
    events.push_back(&rig.opened(Rig::raw(0xC4)));
    ASSERT_TRUE(rig.schedule(*events.back()));
  }
  EXPECT_FALSE(rig.schedule(rig.opened(Rig::raw(0xC4))));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(events[static_cast<std::size_t>(i)]->hw.index, i);
}

TEST(Placement, AnEventThatIsNewSendsTheWholeListThroughTheSearchAgain) {
  Rig rig(skylake());
  std::vector<perf::Event*> events;
  for (int i = 0; i < 3; ++i) {
    events.push_back(&rig.opened(Rig::raw(0xC4)));
    rig.schedule(*events.back());
  }
  rig.unschedule(*events[1]);
  perf::Event& late = rig.opened(Rig::raw(0xC4));
  ASSERT_TRUE(rig.schedule(late));
  EXPECT_EQ(events[2]->hw.index, 1);  // moved down, though its own counter was free to stay on
  EXPECT_EQ(late.hw.index, 2);
}

TEST(Placement, AGroupIsAllOrNothing) {
  Rig rig(skylake());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.schedule(rig.opened(Rig::raw(0xC4))));
  perf::Event& leader = rig.opened(Rig::raw(0xC4));
  rig.opened(Rig::raw(0xC5), &leader);
  EXPECT_FALSE(rig.schedule(leader));
  EXPECT_EQ(leader.hw.index, -1);
  EXPECT_TRUE(rig.schedule(rig.opened(Rig::raw(0xC4))));
}

TEST(Placement, EventsKeepTheirCountersAndKeepCountingWhenOthersCome) {
  Rig rig(skylake());
  perf::Event& first = rig.opened(Rig::raw(0xC4));
  rig.schedule(first);
  rig.bus.writes.clear();
  rig.schedule(rig.opened(Rig::raw(0xC5)));
  EXPECT_EQ(first.hw.index, 0);
  for (const auto& [address, value] : rig.bus.writes) EXPECT_NE(address, msr::PERFEVTSEL0);
}

TEST(Placement, AnEventThatHasToMoveTakesItsCountAndPeriodAlong) {
  Rig rig(haswell());
  perf::Event& anywhere = rig.opened(Rig::raw(0xC4, 1000));
  rig.schedule(anywhere);
  ASSERT_EQ(anywhere.hw.index, 0);
  std::vector<perf::Event*> others;
  for (int i = 0; i < 2; ++i) others.push_back(&rig.opened(Rig::raw(0xC5)));
  for (perf::Event* event : others) rig.schedule(*event);
  rig.count(anywhere, 300);
  perf::Event& narrow = rig.opened(Rig::raw(0x08A3));  // GP 2 only, which the last of the others holds
  ASSERT_TRUE(rig.schedule(narrow));
  EXPECT_EQ(narrow.hw.index, 2);
  perf::Event& moved = *others[1];
  EXPECT_EQ(moved.hw.index, 3);
  EXPECT_FALSE(moved.hw.stopped);
  EXPECT_EQ(anywhere.hw.index, 0);
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
  EXPECT_EQ(second.hw.index, 1);
}

TEST(Placement, AThrottledEventThatHasToMoveStaysStopped) {
  Rig rig(haswell());
  std::vector<perf::Event*> events;
  for (int i = 0; i < 3; ++i) {
    events.push_back(&rig.opened(Rig::raw(0xC4, 1000)));
    rig.schedule(*events.back());
  }
  rig.driver.disable();
  rig.driver.stop(*events[2], perf::PmuDriver::StopMode::plain);
  rig.driver.enable();
  ASSERT_TRUE(rig.schedule(rig.opened(Rig::raw(0x08A3))));
  EXPECT_EQ(events[2]->hw.index, 3);
  EXPECT_TRUE(events[2]->hw.stopped);
}

TEST(GroupValidation, AGroupThatCanNeverFitIsRefusedAtOpen) {
  Rig rig(skylake());
  perf::Event& leader = rig.opened(Rig::raw(0xC4));
  for (int i = 0; i < 3; ++i) rig.opened(Rig::raw(0xC5), &leader);
  EXPECT_EQ(rig.error_of(Rig::raw(0xC6), &leader), EINVAL);
  EXPECT_EQ(rig.refusal, "group_fd: the group's 5 events do not fit on the counters together");
  EXPECT_EQ(rig.error_of(Rig::generic(HardwareId::instructions), &leader), 0);  // a fixed counter is free
}

TEST(GroupValidation, DisabledMembersAreNotCountedIn) {  // known gap
  Rig rig(skylake());
  perf::Event& leader = rig.opened(Rig::raw(0xC4));
  for (int i = 0; i < 3; ++i) rig.opened(Rig::raw(0xC5), &leader).state = perf::EventState::off;
  EXPECT_EQ(rig.error_of(Rig::raw(0xC6), &leader), 0);
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

struct TwoThreads {
  CoreResources core;
  Rig a, b;
  explicit TwoThreads(FakeBus (*cpu)())
      : a(cpu(), {.core = &core, .thread = 0}), b(cpu(), {.core = &core, .thread = 1}) {}
};

constexpr u64 loads = 0x81D0;  // exclusive on Sandy Bridge to Haswell

TEST(HyperThreading, AnExclusiveEventAvoidsCountersThatTheSiblingUses) {
  TwoThreads threads(sandy_bridge);
  threads.a.schedule(threads.a.opened(Rig::raw(0xC4)));  // GP 0
  perf::Event& exclusive = threads.b.opened(Rig::raw(loads));
  ASSERT_TRUE(threads.b.schedule(exclusive));
  EXPECT_EQ(exclusive.hw.index, 1);
}

TEST(HyperThreading, NobodySharesACounterThatTheSiblingUsesExclusively) {
  TwoThreads threads(sandy_bridge);
  threads.a.schedule(threads.a.opened(Rig::raw(loads)));  // GP 0
  perf::Event& other = threads.b.opened(Rig::raw(0xC4));
  ASSERT_TRUE(threads.b.schedule(other));
  EXPECT_EQ(other.hw.index, 1);
}

TEST(HyperThreading, WithExclusiveEventsEachThreadUsesHalfOfTheCounters) {
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

TEST(HyperThreading, LaterCoresAndSingleThreadsAreNotRestricted) {
  TwoThreads threads(skylake);
  threads.a.schedule(threads.a.opened(Rig::raw(loads)));
  perf::Event& other = threads.b.opened(Rig::raw(loads));
  ASSERT_TRUE(threads.b.schedule(other));
  EXPECT_EQ(other.hw.index, 0);
}

// --- counters and events that come with strings attached (4.2, 4.7) ---------------------------------------

TEST(TransactionalAborts, GeneralCounter3IsClaimedOnlyWhileItIsUsed) {
  Rig rig(skylake_with_tsx());
  for (int i = 0; i < 3; ++i) rig.schedule(rig.opened(Rig::raw(0xC4)));
  EXPECT_EQ(rig.bus.msrs[msr::TSX_FORCE_ABORT], 0u);
  perf::Event& fourth = rig.opened(Rig::raw(0xC4));
  ASSERT_TRUE(rig.schedule(fourth));
  EXPECT_EQ(rig.bus.msrs[msr::TSX_FORCE_ABORT], 1u);
  rig.unschedule(fourth);
  EXPECT_EQ(rig.bus.msrs[msr::TSX_FORCE_ABORT], 0u);
}

TEST(TransactionalAborts, WhereTheyAreForbiddenGeneralCounter3IsLeftAlone) {
  Rig rig(skylake_with_tsx(), {.transaction_aborts = TransactionAborts::forbidden});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.schedule(rig.opened(Rig::raw(0xC4))));
  EXPECT_FALSE(rig.schedule(rig.opened(Rig::raw(0xC4))));
}

TEST(LoadLatency, NeedsItsCompanionOnGoldenCoveWhereTheDataSourceIsSampled) {
  Rig rig(sapphire_rapids());
  perf::Attr latency = Rig::precise(0x01CD, 2);
  EXPECT_EQ(rig.error_of(latency), 0);
  latency.sample_type = perf::sample::DATA_SRC;
  EXPECT_EQ(rig.error_of(latency), ENODATA);
  EXPECT_EQ(rig.refusal,
            "group_fd: on this CPU load latency knows its data source only in a group behind mem-loads-aux "
            "(event 03, umask 82)");
  EXPECT_EQ(rig.error_of(latency, &rig.opened(Rig::raw(0x8203))), 0);
  perf::Event& leader = rig.opened(Rig::raw(0xC4));
  rig.opened(Rig::raw(0x8203), &leader);
  EXPECT_EQ(rig.error_of(latency, &leader), 0);
}

TEST(LoadLatency, NeedsNoneElsewhere) {
  Rig rig(ice_lake());
  perf::Attr latency = Rig::precise(0x01CD, 2);
  latency.sample_type = perf::sample::DATA_SRC;
  EXPECT_EQ(rig.error_of(latency), 0);
}

// --- extra registers (4.5) --------------------------------------------------------------------------------

TEST(ExtraRegister, IsWrittenBeforeTheEventSelect) {
  Rig rig(skylake());
  perf::Event& event = rig.opened(offcore(0x01B7, 0x10001));
  ASSERT_TRUE(rig.schedule(event));
  EXPECT_EQ(rig.bus.msrs[msr::OFFCORE_RSP_0], 0x10001u);
  const auto at = [&](u32 address) {
    return std::ranges::find(rig.bus.writes, address, [](const auto& write) { return write.first; });
  };
  EXPECT_LT(at(msr::OFFCORE_RSP_0), at(msr::PERFEVTSEL0));
}

TEST(ExtraRegister, EqualValuesShareOneRegister) {
  Rig rig(skylake());
  perf::Event& first = rig.opened(offcore(0x01B7, 0x10001));
  perf::Event& second = rig.opened(offcore(0x01B7, 0x10001));
  ASSERT_TRUE(rig.schedule(first) && rig.schedule(second));
  EXPECT_EQ(second.hw.extra_register, msr::OFFCORE_RSP_0);
}

TEST(ExtraRegister, AnotherValueTakesTheOtherRegisterAndItsSelector) {
  Rig rig(skylake());
  ASSERT_TRUE(rig.schedule(rig.opened(offcore(0x01B7, 0x10001))));
  perf::Event& second = rig.opened(offcore(0x01B7, 0x10002));
  ASSERT_TRUE(rig.schedule(second));
  EXPECT_EQ(second.hw.extra_register, msr::OFFCORE_RSP_1);
  EXPECT_EQ(second.hw.config & 0xFFFF, 0x01BBu);
  EXPECT_EQ(rig.bus.msrs[msr::OFFCORE_RSP_1], 0x10002u);
}

TEST(ExtraRegister, AThirdValueHasToWait) {
  Rig rig(skylake());
  perf::Event& first = rig.opened(offcore(0x01B7, 0x10001));
  rig.schedule(first);
  rig.schedule(rig.opened(offcore(0x01BB, 0x10002)));
  perf::Event& third = rig.opened(offcore(0x01B7, 0x10004));
  EXPECT_FALSE(rig.schedule(third));
  rig.unschedule(first);
  EXPECT_TRUE(rig.schedule(third));
}

TEST(ExtraRegister, AGroupWithMoreValuesThanRegistersIsRefused) {
  Rig rig(skylake());
  perf::Event& leader = rig.opened(offcore(0x01B7, 0x10001));
  EXPECT_EQ(rig.open(rig.make(offcore(0x01B7, 0x10002), &leader)), 0);
  EXPECT_EQ(rig.error_of(offcore(0x01B7, 0x10004), &leader), EINVAL);
  EXPECT_EQ(rig.refusal, "group_fd: the group's 3 events do not fit on the counters together");
}

TEST(ExtraRegister, NehalemHasOnlyOne) {
  Rig rig(nehalem());
  perf::Event& leader = rig.opened(offcore(0x01B7, 0x11));
  EXPECT_EQ(rig.error_of(offcore(0x01B7, 0x12), &leader), EINVAL);
  EXPECT_EQ(rig.refusal, "group_fd: the group's 2 events do not fit on the counters together");
}

TEST(ExtraRegister, BitsThatItDoesNotTakeAreRefused) {
  Rig rig(skylake());
  EXPECT_EQ(rig.error_of(offcore(0x01B7, bit(50))), EINVAL);
  EXPECT_EQ(rig.refusal, "config1: 0x4000000000000 has bits outside 0x3fffff8fff, which MSR 0x1a6 takes");
}

TEST(ExtraRegister, ARegisterThatCannotBeReadIsNotThere) {
  FakeBus bus = skylake();
  bus.msrs.erase(msr::OFFCORE_RSP_0);
  Rig rig(bus);
  EXPECT_EQ(rig.error_of(offcore(0x01B7, 0x10001)), ENXIO);
  EXPECT_EQ(rig.refusal, "config: the event needs MSR 0x1a6, which cannot be read");
}

TEST(ExtraRegister, LoadLatencyThresholdsAreNeverInterchangeable) {
  Rig rig(skylake());
  perf::Attr first = Rig::precise(0x01CD, 2), second = first;
  first.config1 = 50;
  second.config1 = 100;
  ASSERT_TRUE(rig.schedule(rig.opened(first)));
  EXPECT_FALSE(rig.schedule(rig.opened(second)));
}

TEST(ExtraRegister, SiblingThreadsShareOne) {
  TwoThreads threads(skylake);
  threads.a.schedule(threads.a.opened(offcore(0x01B7, 0x10001)));
  perf::Event& event = threads.b.opened(offcore(0x01B7, 0x10002));
  threads.b.schedule(event);
  EXPECT_EQ(event.hw.extra_register, msr::OFFCORE_RSP_1);
}

TEST(BranchFilter, TwoEventsWithDifferentFiltersTakeTurns) {
  Rig rig(skylake());
  perf::Attr any = Rig::raw(0xC4, 1000);
  any.sample_type = perf::sample::BRANCH_STACK;
  any.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  perf::Attr calls = any;
  calls.branch_sample_type = perf::branch::ANY_CALL | perf::branch::USER;
  ASSERT_TRUE(rig.schedule(rig.opened(any)));
  EXPECT_TRUE(rig.schedule(rig.opened(any)));
  EXPECT_FALSE(rig.schedule(rig.opened(calls)));
}

// --- topdown (4.7) ----------------------------------------------------------------------------------------

TEST(Topdown, MetricsAreSharesOfSlots) {
  Rig rig(ice_lake());
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  perf::Event& retiring = rig.opened(Rig::raw(0x8000), &slots);
  perf::Event& backend = rig.opened(Rig::raw(0x8300), &slots);
  ASSERT_TRUE(rig.schedule(slots));
  EXPECT_EQ(slots.hw.index, 35);
  EXPECT_EQ(backend.hw.index, 51);
  rig.bus.msrs[msr::FIXED_CTR0 + 3] = 25'500;
  rig.bus.msrs[msr::PERF_METRICS] = 0x40'00'00'80;
  rig.driver.read(slots);
  EXPECT_EQ(slots.count, 25'500u);
  EXPECT_EQ(retiring.count, 12'800u);
  EXPECT_EQ(backend.count, 6'400u);
  EXPECT_EQ(rig.bus.msrs[msr::FIXED_CTR0 + 3], 0u);  // and both start again from zero
  EXPECT_EQ(rig.bus.msrs[msr::PERF_METRICS], 0u);
}

TEST(Topdown, MetricsNeedSlotsAsTheirLeader) {
  Rig rig(ice_lake());
  EXPECT_EQ(rig.error_of(Rig::raw(0x8000)), EINVAL);
  EXPECT_EQ(rig.refusal, "group_fd: topdown metrics need slots as their leader");
  EXPECT_EQ(rig.error_of(Rig::raw(0x8000), &rig.opened(Rig::raw(0xC4))), EINVAL);
}

TEST(Topdown, NeitherSlotsNorMetricsMaySampleTogether) {
  Rig rig(ice_lake());
  perf::Event& sampling = rig.opened(Rig::raw(0x0400, 100'000));
  EXPECT_EQ(rig.error_of(Rig::raw(0x8000), &sampling), EINVAL);
  EXPECT_EQ(rig.refusal, "group_fd: slots cannot sample while metrics are read with it");
  perf::Event& counting = rig.opened(Rig::raw(0x0400));
  EXPECT_EQ(rig.error_of(Rig::raw(0x8000, 100'000), &counting), EINVAL);
  EXPECT_EQ(rig.refusal, "sample_period: a topdown metric cannot sample");
}

TEST(Topdown, SlotsAloneMaySample) {
  Rig rig(ice_lake());
  perf::Event& slots = rig.opened(Rig::raw(0x0400, 1000));
  ASSERT_TRUE(rig.schedule(slots));
  rig.count(slots, 1000);
  rig.interrupt();
  EXPECT_EQ(rig.sink.samples.size(), 1u);
}

TEST(Topdown, FiltersAndFurtherConfigurationAreRefused) {
  Rig rig(ice_lake());
  EXPECT_EQ(rig.error_of(Rig::raw(0x0400 | msr::evtsel::EDGE)), EINVAL);
  EXPECT_EQ(rig.refusal, "config: topdown events take no filter bits");
  perf::Attr attr = Rig::raw(0x0400);
  attr.config1 = 1;
  EXPECT_EQ(rig.error_of(attr), EINVAL);
  EXPECT_EQ(rig.refusal, "config1: topdown events take no further configuration");
}

TEST(Topdown, AMetricsOverflowUpdatesTheCounts) {
  Rig rig(ice_lake());
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  rig.opened(Rig::raw(0x8000), &slots);
  rig.schedule(slots);
  rig.bus.msrs[msr::FIXED_CTR0 + 3] = 1000;
  rig.bus.msrs[msr::PERF_GLOBAL_STATUS] = msr::status::PERF_METRICS;
  rig.interrupt();
  EXPECT_EQ(slots.count, 1000u);
  EXPECT_TRUE(rig.sink.samples.empty());
}

}  // namespace
}  // namespace pmusim::driver
