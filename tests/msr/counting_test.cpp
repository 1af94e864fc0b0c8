// SPDX-License-Identifier: MIT
#include <vector>

#include "tests/msr/msr_machine.h"

namespace pmusim {
namespace {

using testing::MsrMachine;

constexpr u64 instructions = 0x4300C0;  // EN, OS, USR
constexpr SignalSet one_instruction{Signal::instruction};

/// What a counter with `event_select` gains in each of a row of cycles with k[0], k[1], ... instructions.
std::vector<u64> gains(u64 event_select, const std::vector<unsigned>& k) {
  MsrMachine m("icelake");
  m.write(msr::PERFEVTSEL0, event_select);
  std::vector<u64> gained;
  for (unsigned cycle = 0; cycle < k.size(); ++cycle) {
    const u64 before = m.read(msr::PMC0);
    m.retire_at(cycle, one_instruction, k[cycle]);
    m.pass_to(cycle + 1);
    gained.push_back(m.read(msr::PMC0) - before);
  }
  return gained;
}
constexpr u64 cmask(u64 n) { return n << 24; }

// SDM vol. 3, IA32_PERFEVTSELx: CMASK, INV and EDGE.
TEST(PerCycleRules, CmaskCountsCyclesWithAtLeastSoManyOccurrences) {
  EXPECT_EQ(gains(instructions | cmask(2), {0, 1, 2, 3, 1}), (std::vector<u64>{0, 0, 1, 1, 0}));
}
TEST(PerCycleRules, InvCountsTheOtherCycles) {
  EXPECT_EQ(gains(instructions | cmask(2) | msr::evtsel::INV, {0, 1, 2, 3, 1}),
            (std::vector<u64>{1, 1, 0, 0, 1}));
}
TEST(PerCycleRules, EdgeCountsRisesOfTheCondition) {
  EXPECT_EQ(gains(instructions | cmask(1) | msr::evtsel::EDGE, {0, 2, 2, 0, 1}),
            (std::vector<u64>{0, 1, 0, 0, 1}));
}
TEST(PerCycleRules, InvWithoutCmaskIsIgnored) {
  EXPECT_EQ(gains(instructions | msr::evtsel::INV, {0, 3}), (std::vector<u64>{0, 3}));
}

TEST(PerCycleRules, IdleCyclesBetweenRetirementsAreCountedByInv) {
  MsrMachine m("icelake");
  m.write(msr::PERFEVTSEL0, instructions | cmask(1) | msr::evtsel::INV);
  m.retire_at(10, one_instruction);   // cycles 0..9 idle
  m.retire_at(100, one_instruction);  // cycles 11..99 idle
  EXPECT_EQ(m.read(msr::PMC0), 10u + 89u);
}

TEST(Counting, AStepThatPassesZeroKeepsWhatIsLeftOver) {  // preset -3, k = 2, 2
  MsrMachine m("icelake");
  m.write(msr::PERFEVTSEL0, instructions);
  m.write(msr::PMC0, static_cast<u32>(-3));
  EXPECT_EQ(m.retire_at(0, one_instruction, 2).overflowed, 0u);
  EXPECT_EQ(m.retire_at(1, one_instruction, 2).overflowed, 1u);
  EXPECT_EQ(m.read(msr::PMC0), 1u);
}

TEST(Counting, TimeStopsAfterTheCycleInWhichAClockCounterWraps) {
  MsrMachine m("icelake");
  m.write(msr::FIXED_CTR_CTRL, 0x30);
  m.write(msr::PERF_GLOBAL_CTRL, bit(33));
  m.write(msr::FIXED_CTR0 + 1, low_bits(48) - 4);  // five cycles to go
  const Counted counted = m.counters.pass_time(100, Cpl::user);
  EXPECT_EQ(counted.overflowed, bit(33));
  EXPECT_EQ(m.counters.now(), 5u);
  m.pass_to(100);
  EXPECT_EQ(m.read(msr::FIXED_CTR0 + 1), 95u);
}

TEST(Counting, ThePrivilegeFilterAppliesToOccurrencesAndToTime) {
  MsrMachine m("icelake");
  m.write(msr::PERFEVTSEL0, 0x4100C0);      // USR
  m.write(msr::PERFEVTSEL0 + 1, 0x42003C);  // OS
  m.retire_at(10, one_instruction, 2, Cpl::user);
  m.retire_at(15, one_instruction, 3, Cpl::kernel);
  m.pass_to(20, Cpl::user);
  EXPECT_EQ(m.read(msr::PMC0), 2u);
  EXPECT_EQ(m.read(msr::PMC0 + 1), 4u + 1u);  // 11..14, and 15 in which the kernel retired
}

}  // namespace
}  // namespace pmusim
