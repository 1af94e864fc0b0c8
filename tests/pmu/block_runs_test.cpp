// SPDX-License-Identifier: MIT
// Runs of many blocks given to a Pmu at once: how far they go, and what stops them. That their sum is the
// result is raced by bulk_property_test.cpp and tests/session/levels_test.cpp; what they leave of the open
// cycle, here.
#include "pmu/block_runs.h"

#include "pmusim/pmu/observer.h"
#include "tests/pmu/guest.h"
#include "tests/support/dice.h"

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

TEST(BlockRuns, GoOnWhileNoCounterCouldWrap) {
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

TEST(BlockRuns, NeedNoObserverAndNoPendingInterrupt) {
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

/// The same instructions in user mode on two machines: one retires each of them, the other sums up where it
/// may.
class Race {
 public:
  explicit Race(u64 seed) : dice_(seed) {
    for (Kind& kind : kinds_)
      for (u64 n = 1 + dice_.below(6); n != 0; --n) kind.push_back(signals());
  }

  /// Conditions under which all of the program's cycles are alike: out of reach, or asked of the kernel's
  /// cycles only.
  void program() {
    constexpr u64 events[] = {0xC0, 0xC4, 0x3C}, conditions[] = {0, out_of_reach, out_of_reach | inv};
    for (u32 n = 0; n < counters; ++n) {
      const bool kernel_only = dice_.one_in(4);
      const u64 privilege = kernel_only ? msr::evtsel::OS : msr::evtsel::USR;
      const u64 condition = kernel_only ? threshold() : conditions[dice_.below(3)];
      write(n, events[dice_.below(3)] | privilege | condition | msr::evtsel::EN);
    }
  }
  /// Makes what a cycle holds decide, that of the open one included.
  void set_thresholds() {
    for (u32 n = 0; n < counters; ++n) {
      const u64 select = exact_.read(msr::PERFEVTSEL0 + n) & ~(inv | bits(31, 24));
      write(n, select | msr::evtsel::USR | threshold());
    }
  }

  void execute() {
    const u32 kind = static_cast<u32>(dice_.below(kinds_.size()));
    std::vector<Retirement> retired;
    const u64 since = cycle_;
    for (const SignalSet& usual : kinds_[kind]) {
      u64 passed = dice_.one_in(2) ? 0 : dice_.below(3);
      if (in_cycle_ == most_in_cycle) passed = 1;
      in_cycle_ = passed == 0 ? in_cycle_ + 1 : 1;
      cycle_ += passed;
      retired.push_back(
          {.ip = 0x1000, .cycle = cycle_, .signals = dice_.one_in(4) ? signals() : usual, .length = 4});
      exact_.pmu.retire(retired.back());
    }
    const BlockRuns::Execution execution{.kind = kind,
                                         .instructions = static_cast<u32>(retired.size()),
                                         .cycles = static_cast<u32>(cycle_ - since)};
    if (sums_up(execution)) return add(execution, retired);
    settle();
    for (const Retirement& r : retired) fast_.pmu.retire(r);
  }
  void settle() { runs_.settle(nullptr); }

  void close_cycle_and_compare() {
    settle();
    ++cycle_;
    in_cycle_ = 0;
    for (Guest* guest : {&exact_, &fast_}) guest->pmu.wait_until(cycle_, {.cpl = Cpl::user});
    for (u32 n = 0; n < counters; ++n) EXPECT_EQ(fast_.read(msr::PMC0 + n), exact_.read(msr::PMC0 + n)) << n;
  }

  u64 summed_up = 0;

 private:
  using Kind = std::vector<SignalSet>;
  static constexpr u32 counters = 4, most_in_cycle = 4;
  static constexpr u64 inv = msr::evtsel::INV, out_of_reach = u64{most_in_cycle + 1} << 24;

  SignalSet signals() {
    SignalSet drawn{Signal::instruction};
    if (dice_.one_in(2)) drawn.add(Signal::branch);
    return drawn;
  }
  u64 threshold() { return (1 + dice_.below(most_in_cycle)) << 24 | (dice_.one_in(2) ? inv : 0); }
  void write(u32 counter, u64 select) {
    for (Guest* guest : {&exact_, &fast_}) guest->write(msr::PERFEVTSEL0 + counter, select);
  }
  bool sums_up(const BlockRuns::Execution& execution) {
    if (runs_.fits(execution)) return true;
    settle();
    return runs_.begin(execution) && runs_.fits(execution);
  }
  void add(const BlockRuns::Execution& execution, std::span<const Retirement> retired) {
    const Kind& usual = kinds_[execution.kind];
    if (!runs_.knows(execution.kind)) runs_.learn(execution.kind, std::span<const SignalSet>(usual));
    EXPECT_TRUE(runs_.add(execution));
    ++summed_up;
    for (std::size_t n = 0; n < retired.size(); ++n) runs_.correct(usual[n], retired[n].signals);
    if (!runs_.sums_within_cycles()) return;
    if (execution.cycles != 0) runs_.open_cycle();
    for (const Retirement& r : retired)
      if (r.cycle == cycle_) runs_.add_to_cycle(r.signals);
  }

  Dice dice_;
  Guest exact_{"skylake"}, fast_{"skylake"};
  BlockRuns runs_{fast_.pmu, {.most_in_cycle = most_in_cycle}};
  std::array<Kind, 3> kinds_;
  u64 cycle_ = 0;
  u32 in_cycle_ = 0;
};

// A handler may write a threshold while the cycle is open in which the last of the sum retired.
TEST(BlockRuns, LeaveTheOpenCycleToAThresholdAsRetiringDoes) {
  u64 summed_up = 0;
  for (u64 seed = 0; seed < 200; ++seed) {
    Race race(seed);
    for (u64 round = 0; round < 20; ++round) {
      race.program();
      for (u64 n = 0; n < 4; ++n) {
        race.execute();
        if ((seed + round + n) % 3 == 0) race.settle();
      }
      race.settle();
      if (round % 3 != 0) race.set_thresholds();
      if (round % 3 == 2) race.execute();
      race.close_cycle_and_compare();
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << " round " << round;
    }
    summed_up += race.summed_up;
  }
  EXPECT_GT(summed_up, 200u * 20u);
}

}  // namespace
}  // namespace pmusim
