// SPDX-License-Identifier: MIT
// Runs of many blocks given to a Pmu at once: how far they go, and what stops them. That their sum is the
// truth is raced by bulk_property_test.cpp and tests/session/levels_test.cpp.
#include "pmu/block_runs.h"

#include "pmusim/pmu/observer.h"
#include "tests/pmu/guest.h"

namespace pmusim {
namespace {

using test::Guest;

constexpr u64 user = msr::evtsel::USR | msr::evtsel::EN;
constexpr u64 instructions = user | 0xC0, branches = user | 0xC4;

/// So many instructions, one in each cycle, of which the last is a branch.
std::vector<Retirement> block(u64 length) {
  std::vector<Retirement> execution;
  for (u64 n = 1; n <= length; ++n)
    execution.push_back({.ip = 0x1000 + 4 * n, .cycle = n, .signals = {Signal::instruction}, .length = 4});
  execution.back().signals.add(Signal::branch);
  return execution;
}

constexpr BlockRuns::Execution ten{.kind = 0, .instructions = 10, .cycles = 10};
constexpr BlockRuns::Execution three{.kind = 1, .instructions = 3, .cycles = 3};

/// How many of these executions are summed up before the first that does not fit.
u64 add_all_that_fit(BlockRuns& runs, const BlockRuns::Execution& execution) {
  u64 added = 0;
  if (!runs.begin(execution)) return 0;
  if (!runs.knows(execution.kind)) runs.learn(execution.kind, block(execution.instructions), 0);
  while (runs.fits(execution) && runs.add(execution)) ++added;
  return added;
}

void count(Guest& guest, unsigned counter, u64 select, u64 period) {
  guest.write(msr::PMC0 + counter, -period & low_bits(32));
  guest.write(msr::PERFEVTSEL0 + counter, select);
}

TEST(BlockRuns, GoOnWhileNoCounterCouldWrapIfEveryInstructionCounted) {
  Guest guest("skylake");
  count(guest, 0, instructions, 100);
  count(guest, 1, branches, 1000);
  BlockRuns runs(guest.pmu);
  EXPECT_EQ(add_all_that_fit(runs, ten), 9u) << "the 100th instruction overflows";
  EXPECT_EQ(guest.read(msr::PMC0), -100 & low_bits(48)) << "nothing has been told yet";
  runs.settle(nullptr);
  EXPECT_EQ(guest.read(msr::PMC0), -10 & low_bits(48));
  EXPECT_EQ(guest.read(msr::PMC0 + 1), -991 & low_bits(48));
  EXPECT_EQ(guest.pmu.now(), 90u);
}

TEST(BlockRuns, MixBlocksAsLongAsEachOfThemFits) {
  Guest guest("skylake");
  count(guest, 0, instructions, 24);
  BlockRuns runs(guest.pmu);
  ASSERT_TRUE(runs.begin(ten));
  runs.learn(ten.kind, block(10), 0);
  runs.learn(three.kind, block(3), 0);
  EXPECT_TRUE(runs.add(ten));
  EXPECT_TRUE(runs.add(three));
  EXPECT_TRUE(runs.add(ten));
  EXPECT_FALSE(runs.fits(three)) << "23 of the 24 are gone";
  runs.settle(nullptr);
  EXPECT_EQ(guest.read(msr::PMC0), -1 & low_bits(48));
}

TEST(BlockRuns, EndWithTheRoomOfAClock) {
  Guest guest("skylake");
  guest.write(msr::FIXED_CTR0 + 1, -41 & low_bits(48));
  guest.write(msr::FIXED_CTR_CTRL, msr::fixed_ctrl::USR << 4);
  guest.write(msr::PERF_GLOBAL_CTRL, bit(33));
  BlockRuns runs(guest.pmu);
  EXPECT_EQ(add_all_that_fit(runs, ten), 4u);
}

TEST(BlockRuns, DoNotBeginWhileSomebodyObservesOrAnInterruptIsOnItsWay) {
  Guest guest("skylake");
  BlockRuns runs(guest.pmu);
  EXPECT_TRUE(runs.begin(ten));
  runs.settle(nullptr);
  Observer observer;
  guest.pmu.set_observer(&observer);
  EXPECT_FALSE(runs.begin(ten));
  guest.pmu.set_observer(nullptr);
  EXPECT_TRUE(runs.begin(ten));
  runs.settle(nullptr);
  guest.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  guest.pmu.request_pmi();
  EXPECT_FALSE(runs.begin(ten));
}

// "cycles:pp" counts cycles with fewer than 10 or 16 of something: all of them.
TEST(BlockRuns, SumUpAConditionThatHoldsInEveryCycleAndNoOther) {
  Guest guest("skylake");
  BlockRuns runs(guest.pmu);
  count(guest, 0, instructions | msr::evtsel::INV | u64{10} << 24, 100);
  EXPECT_EQ(add_all_that_fit(runs, ten), 9u);
  runs.settle(nullptr);
  EXPECT_EQ(guest.read(msr::PMC0), -10 & low_bits(48));
  count(guest, 0, branches | u64{1} << 24, 1000);
  EXPECT_EQ(add_all_that_fit(runs, three), 0u) << "of three cycles one has a branch";
}

TEST(BlockRuns, LearnAnewUnderAnotherProgramming) {
  Guest guest("skylake");
  count(guest, 0, instructions, 1000);
  BlockRuns runs(guest.pmu);
  EXPECT_EQ(add_all_that_fit(runs, ten), 99u);
  runs.settle(nullptr);
  count(guest, 0, branches, 1000);
  ASSERT_TRUE(runs.begin(ten));
  EXPECT_FALSE(runs.knows(ten.kind));
}

}  // namespace
}  // namespace pmusim
