// SPDX-License-Identifier: MIT
// Events that need company in their group (Linux: icl_set_topdown_event_period, intel_pmu_hw_config).
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>

#include "driver_fixture.h"

namespace pmusim::driver {
namespace {

// --- topdown (4.7) ----------------------------------------------------------------------------------------

void registers_are(Rig& rig, u64 slots, u64 metrics) {
  rig.bus.msrs[msr::FIXED_CTR0 + 3] = slots;
  rig.bus.msrs[msr::PERF_METRICS] = metrics;
}
void remove(Rig& rig, std::initializer_list<perf::Event*> events) {
  rig.driver.disable();
  for (perf::Event* event : events) rig.driver.remove(*event);
  rig.driver.enable();
}

TEST(Topdown, MetricsAreSharesOfSlots) {
  Rig rig(ice_lake());
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  perf::Event& retiring = rig.opened(Rig::raw(0x8000), &slots);
  perf::Event& backend = rig.opened(Rig::raw(0x8300), &slots);
  ASSERT_TRUE(rig.schedule(slots));
  EXPECT_EQ(data_of(slots).index, 35);
  EXPECT_EQ(data_of(backend).index, 51);
  registers_are(rig, 25'500, 0x40'00'00'80);
  rig.driver.read(slots);
  EXPECT_EQ(slots.count, 25'500u);
  EXPECT_EQ(retiring.count, 12'800u);
  EXPECT_EQ(backend.count, 6'400u);
  EXPECT_EQ(rig.bus.msrs[msr::FIXED_CTR0 + 3], 0u);  // and both start again from zero
  EXPECT_EQ(rig.bus.msrs[msr::PERF_METRICS], 0u);
}

TEST(Topdown, ANewEventClearsTheRegistersAndARestartRestoresThem) {  // Linux: icl_set_topdown_event_period
  Rig rig(ice_lake());
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  perf::Event& retiring = rig.opened(Rig::raw(0x8000), &slots);
  const auto cleared = [&] {
    return std::ranges::count(rig.bus.writes, std::make_pair(msr::PERF_METRICS, u64{0}));
  };
  rig.bus.writes.clear();
  ASSERT_TRUE(rig.schedule(slots));
  EXPECT_EQ(cleared(), 2);
  registers_are(rig, 510, 0x80);
  rig.bus.writes.clear();
  remove(rig, {&slots, &retiring});
  EXPECT_EQ(cleared(), 0);
  EXPECT_EQ(slots.count, 510u);
  EXPECT_EQ(retiring.count, 256u);

  registers_are(rig, 7, 7);  // of another event
  rig.bus.writes.clear();
  ASSERT_TRUE(rig.schedule(slots));
  EXPECT_EQ(cleared(), 0);
  EXPECT_EQ(rig.bus.msrs[msr::FIXED_CTR0 + 3], 510u);
  EXPECT_EQ(rig.bus.msrs[msr::PERF_METRICS], 0x80u);
  rig.bus.msrs[msr::FIXED_CTR0 + 3] = 1020;
  rig.driver.read(slots);
  EXPECT_EQ(slots.count, 1020u);
  EXPECT_EQ(retiring.count, 512u);
}

TEST(Topdown, TheTwoRegistersAreReadAndClearedWhileNothingCounts) {  // Linux: intel_pmu_read_event
  Rig rig(ice_lake());
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  perf::Event& retiring = rig.opened(Rig::raw(0x8000), &slots);
  ASSERT_TRUE(rig.schedule(slots));
  for (perf::Event* event : {&slots, &retiring}) {
    registers_are(rig, 510, 0x80);
    rig.bus.writes.clear();
    rig.driver.read(*event);
    std::vector<u32> written;
    for (const auto& [address, value] : rig.bus.writes) written.push_back(address);
    EXPECT_EQ(written, (std::vector<u32>{msr::PERF_GLOBAL_CTRL, msr::FIXED_CTR0 + 3, msr::PERF_METRICS,
                                         msr::PERF_GLOBAL_CTRL}));
    EXPECT_EQ(rig.bus.writes.front().second, 0u);
  }
  EXPECT_EQ(retiring.count, 512u);
}

TEST(Topdown, AsAGroupIsReadItsMetricsComeWithSlots) {
  Rig rig(ice_lake());
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  perf::Event& retiring = rig.opened(Rig::raw(0x8000), &slots);
  perf::Event& other = rig.opened(Rig::raw(0xC4), &slots);
  ASSERT_TRUE(rig.schedule(slots));
  rig.bus.writes.clear();
  rig.count(other, 7);
  rig.driver.read_member(retiring);
  rig.driver.read_member(other);
  EXPECT_TRUE(rig.bus.writes.empty());
  EXPECT_EQ(other.count, 7u);
}

TEST(Topdown, AMetricThatStopsLeavesTheRegistersToTheOthers) {  // Linux: intel_update_topdown_event
  Rig rig(ice_lake());
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  perf::Event& retiring = rig.opened(Rig::raw(0x8000), &slots);
  perf::Event& wrong = rig.opened(Rig::raw(0x8100), &slots);
  ASSERT_TRUE(rig.schedule(slots));
  registers_are(rig, 510, 0x10'80);
  remove(rig, {&retiring});
  EXPECT_EQ(rig.bus.msrs[msr::FIXED_CTR0 + 3], 510u);
  EXPECT_EQ(retiring.count, 256u);
  EXPECT_EQ(wrong.count, 32u);
  registers_are(rig, 1020, 0x04'80);  // the share of 32 slots has become one of 16
  rig.driver.read(slots);
  EXPECT_EQ(slots.count, 1020u);
  EXPECT_EQ(wrong.count, 32u);
  EXPECT_EQ(retiring.count, 256u);
  registers_are(rig, 255, 0x10'80);  // both were cleared at that look
  rig.driver.read(slots);
  EXPECT_EQ(slots.count, 1275u);
  EXPECT_EQ(wrong.count, 48u);
}

TEST(Topdown, SlotsCountUntilTheLastMetricStops) {  // Linux: intel_pmu_disable_fixed
  Rig rig(ice_lake());
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  perf::Event& retiring = rig.opened(Rig::raw(0x8000), &slots);
  ASSERT_TRUE(rig.schedule(slots));
  const auto slots_control = [&] { return rig.bus.msrs[msr::FIXED_CTR_CTRL] >> 12; };
  remove(rig, {&slots});
  EXPECT_NE(slots_control(), 0u);
  remove(rig, {&retiring});
  EXPECT_EQ(slots_control(), 0u);
}

TEST(Topdown, OnlyMetricsMeanNothingWithoutTheirGroup) {
  Rig rig(ice_lake());
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  EXPECT_TRUE(rig.opened(Rig::raw(0x8000), &slots).member_only);
  EXPECT_FALSE(rig.opened(Rig::raw(0xC4), &slots).member_only);
  EXPECT_FALSE(slots.member_only);
}

TEST(Topdown, SharesAreRoundedDown) {
  Rig rig(ice_lake());
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  perf::Event& retiring = rig.opened(Rig::raw(0x8000), &slots);
  ASSERT_TRUE(rig.schedule(slots));
  registers_are(rig, 1030, 0x40);  // 64 / 255 of 1030 are 258.51
  rig.driver.read(slots);
  EXPECT_EQ(retiring.count, 258u);
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
  attr.config1 = 2;
  EXPECT_EQ(rig.error_of(attr), EINVAL);
  EXPECT_EQ(rig.refusal, "config1: topdown events take no further configuration");
}

// Linux 7.3: config1 bit 0 of slots is bit 14 of FIXED_CTR_CTRL (SDM vol. 4, 38DH), and nobody asks the CPU.
TEST(Topdown, SinceLinux7_3SlotsMayClearTheMetricsAsTheyAreRead) {
  perf::Attr attr = Rig::raw(0x0400);
  attr.config1 = 1;
  Rig older(ice_lake(), {.kernel = perf::Kernel::v7_1});
  EXPECT_EQ(older.error_of(attr), EINVAL);
  Rig rig(ice_lake(), {.kernel = perf::Kernel::v7_3});
  perf::Event& slots = rig.opened(attr);
  ASSERT_TRUE(rig.schedule(slots));
  EXPECT_EQ(rig.bus.msrs[msr::FIXED_CTR_CTRL] & 0x4000, 0x4000u);
  attr.config1 = 2;
  EXPECT_EQ(rig.error_of(attr), EINVAL);
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

TEST(Topdown, MetricsUseNoCounters) {
  Rig rig(sapphire_rapids());
  perf::Event& slots = rig.opened(Rig::raw(0x0400));
  std::vector<perf::Event*> metrics;
  for (u64 n = 0; n < 8; ++n) metrics.push_back(&rig.opened(Rig::raw(0x8000 + 0x100 * n), &slots));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(rig.error_of(Rig::raw(0xC4), &slots), 0);
  for (const u64 fixed : {0x00C0, 0x003C, 0x0300}) EXPECT_EQ(rig.error_of(Rig::raw(fixed), &slots), 0);
  EXPECT_EQ(rig.error_of(Rig::raw(0xC4), &slots), EINVAL);
  ASSERT_TRUE(rig.schedule(slots));  // 20 events on 12 counters
  EXPECT_EQ(data_of(slots).index, 35);
  for (int n = 0; n < 8; ++n) EXPECT_EQ(data_of(*metrics[static_cast<std::size_t>(n)]).index, 48 + n);
}

TEST(Topdown, AMetricThatThePartLacksIsAnEventLikeAnyOther) {  // Ice Lake has the first four
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0x8400));
  ASSERT_TRUE(rig.schedule(event));
  EXPECT_EQ(data_of(event).index, 0);
  rig.count(event, 7);
  rig.driver.read(event);
  EXPECT_EQ(event.count, 7u);
}

TEST(Topdown, WithoutMetricsSlotsAreAnEventLikeAnyOther) {
  FakeBus bus = ice_lake();
  bus.msrs[msr::PERF_CAPABILITIES] &= ~msr::perf_cap::PERF_METRICS;
  Rig rig(bus);
  EXPECT_EQ(rig.error_of(Rig::raw(0x0400 | msr::evtsel::EDGE)), 0);
}

TEST(LoadLatency, GoldenCoveNeedsTheCompanionForTheDataSource) {
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
  EXPECT_EQ(rig.error_of(latency, &leader), ENODATA);
  rig.opened(Rig::raw(0x8203), &leader);
  EXPECT_EQ(rig.error_of(latency, &leader), 0);
}

TEST(LoadLatency, NeedsNoneElsewhere) {
  Rig rig(ice_lake());
  perf::Attr latency = Rig::precise(0x01CD, 2);
  latency.sample_type = perf::sample::DATA_SRC;
  EXPECT_EQ(rig.error_of(latency), 0);
}

}  // namespace
}  // namespace pmusim::driver
