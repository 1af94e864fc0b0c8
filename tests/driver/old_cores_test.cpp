// SPDX-License-Identifier: MIT
// What the oldest cores have their driver do differently.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/driver/driver_fixture.h"

namespace pmusim::driver {
namespace {

using Writes = std::vector<std::pair<u32, u64>>;

FakeBus yonah() {
  FakeBus bus = product(0x6E8, {0x07280201, 0, 0, 0}, 0);
  for (const u32 address : {msr::PERF_GLOBAL_CTRL, msr::PERF_GLOBAL_STATUS}) bus.msrs.erase(address);
  return bus;
}

bool wrote(const Writes& writes, u32 address) {
  return std::ranges::any_of(writes, [&](const auto& write) { return write.first == address; });
}

TEST(Nehalem, CountersCountEventsOfTheErratumBeforeNewOnes) {
  Rig rig(nehalem());
  perf::Event& event = rig.opened(Rig::raw(0xC4));
  rig.bus.writes.clear();
  rig.schedule(event);
  const Writes first{{msr::PERFEVTSEL0, 0x4300B5}, {msr::PMC0, 0}};
  const auto at = std::search(rig.bus.writes.begin(), rig.bus.writes.end(), first.begin(), first.end());
  ASSERT_NE(at, rig.bus.writes.end());
  for (u32 n = 0; n < 4; ++n) {
    EXPECT_EQ(at[2 * n].first, msr::PERFEVTSEL0 + n);
    EXPECT_EQ(at[2 * n + 1], std::make_pair(msr::PMC0 + n, u64{0}));
  }
  const Writes after(at + 8, rig.bus.writes.end());
  EXPECT_EQ(after[0], std::make_pair(msr::PERF_GLOBAL_CTRL, u64{0xF}));
  EXPECT_EQ(after[1], std::make_pair(msr::PERF_GLOBAL_CTRL, u64{0}));
  EXPECT_EQ(rig.bus.msrs[msr::PERFEVTSEL0] & msr::evtsel::EVENT, 0xC4u);
  EXPECT_EQ(rig.bus.msrs[msr::PERFEVTSEL0 + 1], 0u);
}

TEST(Nehalem, WhatACounterHadCountedBeforeIsKept) {
  Rig rig(nehalem());
  std::vector<perf::Event*> events;
  for (u64 n = 0; n < 3; ++n) {
    events.push_back(&rig.opened(Rig::raw(0xC4)));
    rig.schedule(*events.back());
    rig.count(*events.back(), 5 + n);
  }
  rig.schedule(rig.opened(Rig::raw(0xC5)));
  for (u64 n = 0; n < 3; ++n) {
    rig.driver.read(*events[n]);
    EXPECT_EQ(events[n]->count, 5 + n);
  }
}

TEST(Nehalem, AnEnableThatAddsNothingWritesNoEventOfTheErratum) {
  Rig rig(nehalem());
  rig.schedule(rig.opened(Rig::raw(0xC4)));
  rig.bus.writes.clear();
  rig.driver.disable();
  rig.driver.enable();
  EXPECT_FALSE(wrote(rig.bus.writes, msr::PERFEVTSEL0));
}

TEST(Yonah, CountersGoOnWhileTheirInterruptIsHandled) {
  Rig rig(yonah());
  perf::Event& event = rig.opened(Rig::raw(0xC4, 1000));
  ASSERT_TRUE(rig.schedule(event));
  rig.bus.msrs[msr::PMC0] = 5;  // it has wrapped
  rig.bus.writes.clear();
  rig.interrupt();
  EXPECT_EQ(rig.sink.samples.size(), 1u);
  EXPECT_FALSE(wrote(rig.bus.writes, msr::PERFEVTSEL0));
}

TEST(Yonah, ACounterThatHasNotWrappedHasNoSample) {
  Rig rig(yonah());
  ASSERT_TRUE(rig.schedule(rig.opened(Rig::raw(0xC4, 1000))));
  rig.interrupt();
  EXPECT_TRUE(rig.sink.samples.empty());
  EXPECT_EQ(rig.driver.statistics().unhandled_interrupts, 1u);
}

TEST(Yonah, FrequencyModeStartsWithoutAGuess) {
  Rig old(yonah()), later(nehalem());
  perf::Attr attr = Rig::raw(0xC4, 1000);
  attr.freq = 1;
  EXPECT_EQ(old.opened(attr).hw.sample_period, 1u);
  EXPECT_GT(later.opened(attr).hw.sample_period, 1u);
}

}  // namespace
}  // namespace pmusim::driver
