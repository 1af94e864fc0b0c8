// SPDX-License-Identifier: MIT
// Auto counter reload in the driver (docs/acr.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "driver_fixture.h"

namespace pmusim::driver {
namespace {

using perf::Event;
using perf::HardwareId;

perf::Attr reloaded(perf::Attr attr, u64 acr_mask) {
  attr.config2 = acr_mask;
  return attr;
}
perf::Attr misses(u64 period, u64 acr_mask) {
  return reloaded(Rig::generic(HardwareId::branch_misses, period), acr_mask);
}
perf::Attr branches(u64 period, u64 acr_mask) {
  return reloaded(Rig::generic(HardwareId::branch_instructions, period), acr_mask);
}

constexpr u32 cfg_b(unsigned gp) { return msr::V6_GP0_CFG_B + 4 * gp; }
constexpr u32 cfg_c(unsigned gp) { return msr::V6_GP0_CFG_C + 4 * gp; }
constexpr u32 select(unsigned gp) { return msr::V6_GP0_CFG_A + 4 * gp; }
constexpr u32 fixed_cfg_b(unsigned m) { return msr::V6_FX0_CFG_B + 4 * m; }

/// The usual pair: misses sample, branches close the window.
struct Pair {
  Rig rig{skymont()};
  Event& miss;
  Event& branch;
  explicit Pair(u64 miss_mask = 0x2, u64 branch_mask = 0x3)
      : miss(rig.opened(misses(200'000, miss_mask))),
        branch(rig.opened(branches(1'000'000, branch_mask), &miss)) {}
};

// --- programming (2.3, 2.4) -------------------------------------------------------------------------------

TEST(AutoCounterReload, ProgramsTheReferencesExample) {
  Pair pair;
  ASSERT_TRUE(pair.rig.schedule(pair.miss));
  EXPECT_EQ(data_of(pair.miss).index, 2);
  EXPECT_EQ(data_of(pair.branch).index, 3);
  EXPECT_EQ(pair.rig.bus.msrs[cfg_b(2)], 0x8u);
  EXPECT_EQ(pair.rig.bus.msrs[cfg_b(3)], 0xCu);
  EXPECT_EQ(pair.rig.bus.msrs[cfg_c(2)], 0xFFFC'F2C0u);
  EXPECT_EQ(pair.rig.bus.msrs[cfg_c(3)], 0xFFF0'BDC0u);
  EXPECT_EQ(pair.rig.driver.statistics().faults.count, 0u);
}

TEST(AutoCounterReload, FixedCountersAreBits32AndUp) {
  Rig rig(skymont());
  Event& instructions = rig.opened(reloaded(Rig::generic(HardwareId::instructions, 40'000), 0x2));
  rig.opened(reloaded(Rig::generic(HardwareId::cpu_cycles, 20'000), 0x3), &instructions);
  ASSERT_TRUE(rig.schedule(instructions));
  EXPECT_EQ(rig.bus.msrs[fixed_cfg_b(0)], 0x2'0000'0000u);
  EXPECT_EQ(rig.bus.msrs[fixed_cfg_b(1)], 0x3'0000'0000u);
}

TEST(AutoCounterReload, BitKNamesTheKthEventAsReloadCause) {  // asymmetric on purpose
  Rig rig(skymont());
  Event& first = rig.opened(misses(1000, 0x4));
  Event& second = rig.opened(branches(1000, 0), &first);
  Event& third = rig.opened(reloaded(Rig::raw(0x00C6, 1000), 0x1), &first);
  ASSERT_TRUE(rig.schedule(first));
  EXPECT_EQ(data_of(first).reload_causes, bit(counter_of(third)));
  EXPECT_EQ(data_of(second).reload_causes, 0u);
  EXPECT_EQ(data_of(third).reload_causes, bit(counter_of(first)));
}

TEST(AutoCounterReload, BitsBeyondTheGroupAreIgnored) {
  Pair pair(0xF0, 0x3);
  ASSERT_TRUE(pair.rig.schedule(pair.miss));
  EXPECT_EQ(data_of(pair.miss).reload_causes, 0u);
  EXPECT_EQ(pair.rig.bus.msrs[cfg_b(2)], 0u);
}

TEST(AutoCounterReload, AnAbsentMemberShiftsLaterPositions) {  // known quirk
  Rig rig(skymont());
  Event& first = rig.opened(misses(1000, 0x4));
  rig.opened(Rig::raw(0x00C6, 1000), &first);
  Event& third = rig.opened(branches(1000, 0), &first);
  rig.driver.disable();
  rig.driver.begin();
  ASSERT_TRUE(rig.driver.add(first) && rig.driver.add(third) && rig.driver.commit());
  rig.driver.enable();
  EXPECT_EQ(data_of(first).reload_causes, 0u);  // bit 2 is beyond the two that are there
}

TEST(AutoCounterReload, ASoftwareEventMayOnlyFollowTheMaskedOnes) {
  perf::Attr clock;
  clock.type = static_cast<u32>(perf::EventType::software);
  Rig rig(skymont());
  Event& first = rig.opened(misses(1000, 0x2));
  EXPECT_EQ(rig.error_of(branches(1000, 0x1), &first), 0);
  Event& software = rig.make(clock, &first);
  first.siblings.push_back(&software);
  EXPECT_EQ(rig.error_of(Rig::raw(0x00C6, 1000), &first), 0) << "has no mask";
  EXPECT_EQ(rig.error_of(branches(1000, 0x1), &first), EINVAL);
  EXPECT_EQ(rig.refusal, "group_fd: an event with acr_mask cannot follow a software event of its group");
}

TEST(AutoCounterReload, ReloadRegistersAreWrittenBeforeTheSelect) {  // first published form: after it
  Pair pair;
  pair.rig.schedule(pair.miss);
  const auto at = [&](u32 address) {
    return std::ranges::find_if(pair.rig.bus.writes,
                                [=](const auto& write) { return write.first == address; });
  };
  EXPECT_LT(at(cfg_b(2)), at(cfg_c(2)));
  EXPECT_LT(at(cfg_c(2)), at(select(2)));
}

TEST(AutoCounterReload, ASelfReloadingCounterDoesNotInterrupt) {  // it would set no status bit to explain it
  Pair pair;
  pair.rig.schedule(pair.miss);
  EXPECT_NE(pair.rig.bus.msrs[select(2)] & msr::evtsel::INT, 0u);
  EXPECT_EQ(pair.rig.bus.msrs[select(3)] & msr::evtsel::INT, 0u);
}

TEST(AutoCounterReload, ASelfReloadingFixedCounterDoesNotInterrupt) {
  Rig rig(skymont());
  Event& leader = rig.opened(reloaded(Rig::generic(HardwareId::instructions, 40'000), 0x1));
  ASSERT_TRUE(rig.schedule(leader));
  EXPECT_EQ(rig.bus.msrs[msr::FIXED_CTR_CTRL], 0x3u);
}

TEST(AutoCounterReload, RegistersAreWrittenOnlyWhenTheyChange) {
  Pair pair;
  pair.rig.schedule(pair.miss);
  pair.rig.unschedule(pair.miss);
  pair.rig.bus.writes.clear();
  pair.rig.schedule(pair.miss);
  for (const u32 address : {cfg_b(2), cfg_b(3), cfg_c(2), cfg_c(3)})
    EXPECT_FALSE(std::ranges::any_of(pair.rig.bus.writes, [=](const auto& w) { return w.first == address; }));
}

TEST(AutoCounterReload, APlainEventOnTheSameCounterLosesTheCauses) {
  Pair pair;
  pair.rig.schedule(pair.miss);
  pair.rig.unschedule(pair.miss);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(pair.rig.schedule(pair.rig.opened(Rig::raw(0xC4))));
  EXPECT_EQ(pair.rig.bus.msrs[cfg_b(2)], 0u);
  EXPECT_EQ(pair.rig.bus.msrs[cfg_b(3)], 0u);
}

// --- faults of the first published form (2.5) -------------------------------------------------------------

TEST(AutoCounterReload, CountersWithoutTheRegistersAreLeftAlone) {  // was: CFG_B = 0 written everywhere, #GP
  Rig rig(skymont());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(rig.schedule(rig.opened(Rig::raw(0xC4))));
  EXPECT_EQ(rig.driver.statistics().faults.count, 0u);
}

TEST(AutoCounterReload, FixedAndGeneralRegistersAreKeptApart) {  // was: FX 0 aliased GP 0
  Rig rig(skymont());
  Event& leader = rig.opened(reloaded(Rig::generic(HardwareId::instructions, 40'000), 0x2));
  rig.opened(reloaded(Rig::generic(HardwareId::cpu_cycles, 20'000), 0x3), &leader);
  rig.schedule(leader);
  rig.unschedule(leader);
  rig.bus.writes.clear();
  ASSERT_TRUE(rig.schedule(rig.opened(Rig::raw(0xC4))));  // GP 0: nothing cached for it
  EXPECT_EQ(rig.driver.statistics().faults.count, 0u);
}

TEST(AutoCounterReload, EveryGroupIsConvertedNotOnlyTheLast) {
  Rig rig(skymont());
  Event& first = rig.opened(misses(1000, 0x2));
  rig.opened(branches(1000, 0x3), &first);
  Event& second = rig.opened(misses(1000, 0x2));
  rig.opened(branches(1000, 0x3), &second);
  ASSERT_TRUE(rig.schedule(first) && rig.schedule(second));
  EXPECT_EQ(data_of(first).reload_causes, bit(counter_of(*first.siblings[0])));
  EXPECT_EQ(data_of(second).reload_causes, bit(counter_of(*second.siblings[0])));
}

TEST(AutoCounterReload, BeforeLinux7_3ANewEventRestartsAll) {
  Rig rig(skymont(), {.kernel = perf::Kernel::v7_1});
  Event& first = rig.opened(reloaded(Rig::generic(HardwareId::instructions, 40'000), 0x2));
  Event& second = rig.opened(branches(20'000, 0), &first);
  ASSERT_TRUE(rig.schedule(first));
  ASSERT_EQ(data_of(second).index, 2);
  rig.bus.writes.clear();
  perf::Attr narrow = Rig::precise(0x05D0, 1);  // load latency: GP 0 and 1
  ASSERT_TRUE(rig.schedule(rig.opened(narrow)));
  EXPECT_EQ(data_of(second).index, 2);
  EXPECT_TRUE(std::ranges::any_of(rig.bus.writes, [](const auto& w) { return w.first == msr::V6_FX0_CTR; }));
  EXPECT_EQ(rig.bus.msrs[fixed_cfg_b(0)], bit(2));
}

// Linux 7.3: match_prev_assignment. A member that leaves shifts the positions of later ones.
TEST(AutoCounterReload, SinceLinux7_3NewCausesRestartAMember) {
  Rig rig(skymont());
  Event& first = rig.opened(misses(1000, 0x4));
  Event& second = rig.opened(Rig::raw(0x00C6, 1000), &first);
  Event& third = rig.opened(branches(1000, 0), &first);
  ASSERT_TRUE(rig.schedule(first));
  const auto starts_with_another = [&](const Event& event) {
    rig.bus.writes.clear();
    EXPECT_TRUE(rig.schedule(rig.opened(Rig::raw(0x00C4))));
    return std::ranges::any_of(rig.bus.writes, [&](const auto& write) {
      return write.first == rig.counter_address(counter_of(event));
    });
  };
  EXPECT_FALSE(starts_with_another(first));
  rig.driver.remove(second);
  EXPECT_TRUE(starts_with_another(first));
  EXPECT_EQ(rig.bus.msrs[cfg_b(static_cast<unsigned>(data_of(first).index))], 0u);
  EXPECT_FALSE(starts_with_another(third));
}

// Its leader is closed: it is on its own, and starts again as it is unthrottled.
TEST(AutoCounterReload, EndsWithTheGroupThatNamedTheCauses) {
  Pair pair;
  ASSERT_TRUE(pair.rig.schedule(pair.miss));
  const unsigned n = counter_of(pair.branch);
  ASSERT_NE(pair.rig.bus.msrs[cfg_b(n)], 0u);
  pair.rig.driver.remove(pair.miss);
  pair.branch.leader = &pair.branch;
  pair.rig.driver.stop(pair.branch, perf::PmuDriver::StopMode::plain);
  pair.rig.driver.start(pair.branch, perf::PmuDriver::StartMode::keep_period);
  EXPECT_EQ(pair.rig.bus.msrs[cfg_b(n)], 0u);
  EXPECT_NE(pair.rig.bus.msrs[select(n)] & msr::evtsel::INT, 0u);
}

TEST(AutoCounterReload, NarrowingIsCumulativeOverSiblings) {  // was: started afresh with each sibling
  Pair pair;
  EXPECT_EQ(data_of(pair.miss).dynamic_constraint, 0x3'0000'00FCu);
  EXPECT_EQ(data_of(pair.branch).dynamic_constraint, 0x3'0000'00FCu);
  Event& third = pair.rig.opened(Rig::raw(0xC6, 1000), &pair.miss);
  EXPECT_EQ(data_of(pair.miss).dynamic_constraint, 0x3'0000'00FCu);
  EXPECT_EQ(data_of(third).dynamic_constraint, ~u64{0});  // neither reloaded nor a cause
}

TEST(AutoCounterReload, ArchPebsAndReloadShareTheReloadValue) {  // was: two caches of one register
  Rig rig(darkmont());
  perf::Attr precise_misses = misses(200'000, 0x2);
  precise_misses.precise_ip = 2;
  Event& miss = rig.opened(precise_misses);
  Event& branch = rig.opened(branches(1'000'000, 0x3), &miss);
  ASSERT_TRUE(rig.schedule(miss));
  const auto of = [&](const Event& e) { return rig.bus.msrs[cfg_c(counter_of(e))]; };
  EXPECT_EQ(of(miss) & bits(31, 0), 0xFFFC'F2C0u);
  EXPECT_NE(of(miss) & bit(63), 0u);
  EXPECT_EQ(of(branch), 0xFFF0'BDC0u);
  rig.unschedule(miss);
  for (int i = 0; i < 4; ++i) rig.schedule(rig.opened(Rig::raw(0xC4)));
  EXPECT_EQ(rig.bus.msrs[cfg_c(2)] & bit(63), 0u);  // a plain event writes no records
}

// --- validation (2.2) -------------------------------------------------------------------------------------

class AcrValidation : public testing::Test {
 protected:
  void expect_refusal(const perf::Attr& attr, Event* of, const char* sentence) {
    EXPECT_EQ(rig.error_of(attr, of), EINVAL);
    EXPECT_EQ(rig.refusal, sentence);
  }
  Rig rig{skymont()};
  Event& leader = rig.opened(misses(200'000, 0x2));
};

TEST_F(AcrValidation, AFrequencyIsRefused) {
  perf::Attr attr = branches(1000, 0x1);
  attr.freq = 1;
  expect_refusal(attr, &leader, "freq: events of a group with acr_mask need a fixed period");
}

TEST_F(AcrValidation, MembersWithoutAMaskAreCheckedToo) {
  perf::Attr attr = branches(1000, 0);
  attr.freq = 1;
  expect_refusal(attr, &leader, "freq: events of a group with acr_mask need a fixed period");
}

TEST_F(AcrValidation, PreciseDistributionIsRefused) {
  perf::Attr attr = misses(200'000, 0x2);
  attr.precise_ip = 3;
  expect_refusal(attr, nullptr, "precise_ip: 3 and acr_mask exclude each other");
}

TEST_F(AcrValidation, APeriodThatNoCounterHoldsIsRefused) {
  expect_refusal(
      branches(bit(47), 0x1), &leader,
      "sample_period: 140737488355328 is above 140737488355327, the longest that a counter can reload");
}

TEST_F(AcrValidation, ASoftwareLeaderIsRefused) {
  perf::Attr software;
  software.type = static_cast<u32>(perf::EventType::software);
  expect_refusal(branches(1000, 0x1), &rig.make(software),
                 "group_fd: the leader of a group with acr_mask must be a CPU event");
}

TEST_F(AcrValidation, ReloadedEventsMustComeBeforeSoftwareEvents) {
  perf::Attr software;
  software.type = static_cast<u32>(perf::EventType::software);
  leader.siblings.push_back(&rig.make(software, &leader));
  expect_refusal(branches(1000, 0x1), &leader,
                 "group_fd: an event with acr_mask cannot follow a software event of its group");
}

TEST_F(AcrValidation, RefusesMoreCausesThanCountersThatCauseReloads) {
  expect_refusal(branches(1000, low_bits(9)), &leader,
                 "config2: the group names 9 causes of reloads, only 8 counters can cause one");
}

TEST_F(AcrValidation, RefusesMoreReloadsThanReloadableCounters) {
  for (int i = 0; i < 7; ++i)
    leader.siblings.push_back(&rig.make(branches(1000, 0x1), &leader));  // not validated one by one
  expect_refusal(branches(1000, 0x1), &leader,
                 "config2: 9 events of the group are reloaded, only 8 counters can be");
}

TEST_F(AcrValidation, RefusesAGroupBeyondTheReloadableCounters) {
  for (int i = 0; i < 5; ++i) rig.opened(branches(1000, 0x1), &leader);  // GP 2-7 are full
  expect_refusal(branches(1000, 0x1), &leader,
                 "group_fd: the group's 7 events do not fit on the counters together");
}

TEST_F(AcrValidation, RefusesAnEventBoundToCountersWithoutReload) {
  perf::Attr attr = reloaded(Rig::precise(0x05D0, 1), 0x1);  // GP 0 and 1
  expect_refusal(attr, nullptr, "config: no counter of this CPU can count the event");
}

TEST(AcrValidationWithoutHardware, PartsWithoutItIgnoreTheMask) {
  Rig rig(lion_cove());
  Event& event = rig.opened(misses(1000, 0x1));
  ASSERT_TRUE(rig.schedule(event));
  EXPECT_EQ(data_of(event).reload_causes, 0u);
}

// Linux 7.3 on Panther Cove: slots may be a member, but have no mask; metrics may not.
TEST(AcrValidationWithMetrics, MetricsAreRefusedAndSlotsHaveNoMask) {
  FakeBus bus = lion_cove();  // no such part has been seen: metrics and ACR on one core
  bus.leaves[{0x23, 0}].eax |= 1 << 2;
  bus.leaves[{0x23, 2}] = {0xFC, 3, 0xFC, 3};
  Rig rig(bus);
  Event& leader = rig.opened(misses(1000, 0x1));
  EXPECT_EQ(rig.error_of(Rig::raw(0x0400, 1000), &leader), 0);
  EXPECT_EQ(rig.error_of(reloaded(Rig::raw(0x0400, 1000), 0x1), &leader), EINVAL);
  EXPECT_EQ(rig.error_of(Rig::raw(0x8000), &leader), EINVAL);
}

}  // namespace
}  // namespace pmusim::driver
