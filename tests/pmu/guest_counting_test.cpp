// SPDX-License-Identifier: MIT
// What kvm-unit-tests (x86/pmu) and the KVM selftests (pmu_counters_test) assert of a PMU, on every model
// where it applies. Their loop of a million rounds is two hundred here.
#include "tests/pmu/guest.h"

namespace pmusim::guest_counting_test {
namespace {

using test::Guest;

constexpr u64 N = 200;
constexpr u64 enabled = msr::evtsel::EN | msr::evtsel::OS | msr::evtsel::USR;
constexpr u64 instructions = enabled | 0xC0, branches = enabled | 0xC4;

struct ArchEvent {
  unsigned bit;
  u64 select, least, most;
};
const ArchEvent arch_events[] = {
    {0, 0x003C, N, 50 * N},       // cycles
    {1, 0x00C0, 10 * N, 10 * N},  // instructions: exact
    {2, 0x013C, N / 10, 30 * N},  // reference cycles; 100 MHz of a bus, on older cores
    {3, 0x4F2E, 1, 5 * N / 2},    // LLC references
    {4, 0x412E, 1, N},            // LLC misses
    {5, 0x00C4, N, N},            // branches: exact
    {6, 0x00C5, 1, N / 10},       // branch misses
};

class AnyModel : public ::testing::TestWithParam<std::string> {
 protected:
  AnyModel() : guest_(GetParam()) {}
  const CpuModel& model() const { return guest_.pmu.model(); }
  unsigned gp_count() const { return static_cast<unsigned>(std::popcount(model().gp_counters)); }
  Guest guest_;
};
class Version2 : public AnyModel {};
class FullWidth : public AnyModel {};
class Transactional : public AnyModel {};

INSTANTIATE_TEST_SUITE_P(Models, AnyModel,
                         ::testing::ValuesIn(test::model_names([](const CpuModel&) { return true; })),
                         test::test_name);
INSTANTIATE_TEST_SUITE_P(Models, Version2, ::testing::ValuesIn(test::model_names([](const CpuModel& m) {
                           return m.perfmon_version >= 2;
                         })),
                         test::test_name);
INSTANTIATE_TEST_SUITE_P(Models, FullWidth, ::testing::ValuesIn(test::model_names([](const CpuModel& m) {
                           return m.has_capability(msr::perf_cap::FW_WRITE);
                         })),
                         test::test_name);
INSTANTIATE_TEST_SUITE_P(Models, Transactional,
                         ::testing::ValuesIn(test::model_names([](const CpuModel& m) { return m.rtm; })),
                         test::test_name);

// 7.1 rows 1 and 2, 7.2 row 1
TEST_P(AnyModel, EveryArchitecturalEventCountsOnEveryGpCounter) {
  const CpuidResult leaf = guest_.pmu.cpuid(0xA, 0);
  guest_.enable_globally(model().gp_counters);
  for (const unsigned n : set_bits(model().gp_counters)) {
    for (const ArchEvent& event : arch_events) {
      const bool available = event.bit < leaf.eax >> 24 && (leaf.ebx >> event.bit & 1) == 0;
      guest_.write(msr::PMC0 + n, 0);
      guest_.write(msr::PERFEVTSEL0 + n, enabled | event.select);
      guest_.run_loop(N);
      guest_.write(msr::PERFEVTSEL0 + n, 0);
      if (!available) continue;
      EXPECT_GE(guest_.read(msr::PMC0 + n), event.least)
          << "counter " << n << " event " << std::hex << event.select;
      EXPECT_LE(guest_.read(msr::PMC0 + n), event.most)
          << "counter " << n << " event " << std::hex << event.select;
    }
  }
}

// 7.1 row 3
TEST_P(Version2, FixedCountersCountWithinTheirRanges) {
  guest_.write(msr::FIXED_CTR_CTRL, 0x333);
  guest_.enable_globally(u64{7} << 32);
  guest_.run_loop(N);
  EXPECT_EQ(guest_.read(msr::FIXED_CTR0), 10 * N);
  EXPECT_GE(guest_.read(msr::FIXED_CTR0 + 1), N);
  EXPECT_LE(guest_.read(msr::FIXED_CTR0 + 1), 30 * N);
  EXPECT_GE(guest_.read(msr::FIXED_CTR0 + 2), N / 10);
  EXPECT_LE(guest_.read(msr::FIXED_CTR0 + 2), 30 * N);
}

// 7.1 row 1, 7.2 row 2
TEST_P(AnyModel, ADisabledCounterHoldsItsValue) {
  guest_.write(msr::PMC0, 0xDEAD);
  guest_.run_loop(10);
  EXPECT_EQ(guest_.read(msr::PMC0), 0xDEADu) << "event select 0";
  if (!guest_.has_global_ctrl()) return;
  guest_.write(msr::PERFEVTSEL0, instructions);
  guest_.write(msr::PERF_GLOBAL_CTRL, 0);
  guest_.run_loop(10);
  EXPECT_EQ(guest_.read(msr::PMC0), 0xDEADu) << "GLOBAL_CTRL bit 0 clear";
}

// 7.1 row 4
TEST_P(AnyModel, RdpmcReturnsWhatALegacyWriteSignExtended) {
  guest_.write(msr::PMC0, 0xFF0123456789);
  EXPECT_EQ(*guest_.pmu.rdpmc(0), 0x23456789u);
  guest_.write(msr::PMC0, 0x80000000);
  EXPECT_EQ(*guest_.pmu.rdpmc(0), guest_.width_mask() & 0xFFFFFFFF80000000);
}
TEST_P(FullWidth, AFullWidthWriteIsReadBackWhole) {
  guest_.write(msr::A_PMC0, 0xFF0123456789);
  EXPECT_EQ(*guest_.pmu.rdpmc(0), 0xFF0123456789u);
  EXPECT_EQ(guest_.read(msr::PMC0), 0xFF0123456789u) << "one counter behind both addresses";
}

// 7.1 row 13
TEST_P(FullWidth, BitsAboveTheCounterFault) {
  EXPECT_TRUE(guest_.faults(msr::A_PMC0, guest_.width_mask() + 1));
  EXPECT_FALSE(guest_.faults(msr::A_PMC0, guest_.width_mask()));
}

// 7.1 rows 5, 6 and 14, 7.2 row 4
TEST_P(AnyModel, RdpmcFaultsOnAnythingButItsCounters) {
  EXPECT_FALSE(guest_.pmu.rdpmc(64).ok());
  EXPECT_FALSE(guest_.pmu.rdpmc(0x80000000).ok()) << "fast mode";
  EXPECT_FALSE(guest_.pmu.rdpmc(gp_count()).ok());
  for (unsigned m = 0; m < 8; ++m) {
    const bool exists = (model().fixed_counters >> m & 1) != 0;
    EXPECT_EQ(guest_.pmu.rdpmc(0x40000000 + m).ok(), exists) << m;
    if (!exists) continue;
    guest_.write(msr::FIXED_CTR0 + m, 0x1234 + m);
    EXPECT_EQ(*guest_.pmu.rdpmc(0x40000000 + m), 0x1234 + m);
  }
}
TEST_P(AnyModel, RdpmcBelowRing0NeedsCr4Pce) {
  EXPECT_FALSE(guest_.pmu.rdpmc(0, Cpl::user).ok());
  guest_.pmu.set_user_rdpmc(UserRdpmc::allowed);
  EXPECT_TRUE(guest_.pmu.rdpmc(0, Cpl::user).ok());
}

// 7.1 row 7
TEST_P(AnyModel, AllCountersAtOnceAgree) {
  for (const unsigned n : set_bits(model().gp_counters)) guest_.write(msr::PERFEVTSEL0 + n, instructions);
  guest_.enable_globally(model().gp_counters);
  guest_.run_loop(N);
  for (const unsigned n : set_bits(model().gp_counters)) EXPECT_EQ(guest_.read(msr::PMC0 + n), 10 * N);
}

// 7.1 row 8: preset 1 - count, one run, and the counter reads exactly 1
TEST_P(Version2, AnOverflowLeavesOneAndItsStatusBit) {
  for (const unsigned n : set_bits(model().gp_counters)) {
    const u64 interrupt = n % 2 == 0 ? msr::evtsel::INT : 0;
    guest_.write(msr::PERFEVTSEL0 + n, instructions | interrupt);
    guest_.write(msr::PMC0 + n, 1 - 10 * N);
    guest_.enable_globally(bit(n));
    guest_.run_loop(N);
    guest_.enable_globally(0);
    EXPECT_EQ(guest_.read(msr::PMC0 + n), 1u);
    EXPECT_EQ(guest_.read(msr::PERF_GLOBAL_STATUS), bit(n)) << "whether it interrupts or not";
    guest_.write(msr::PERF_GLOBAL_STATUS_RESET, guest_.read(msr::PERF_GLOBAL_STATUS));
    EXPECT_EQ(guest_.read(msr::PERF_GLOBAL_STATUS), 0u);
    guest_.write(msr::PERFEVTSEL0 + n, 0);
  }
}
TEST_P(Version2, FixedCounter0OverflowsInTheSameWay) {
  guest_.write(msr::FIXED_CTR_CTRL, 0x3);
  guest_.write(msr::FIXED_CTR0, (1 - 10 * N) & guest_.width_mask());
  guest_.enable_globally(bit(32));
  guest_.run_loop(N);
  EXPECT_EQ(guest_.read(msr::FIXED_CTR0), 1u);
  EXPECT_EQ(guest_.read(msr::PERF_GLOBAL_STATUS), bit(32));
}

// 7.1 row 9
TEST_P(Version2, OnlyCountersWithIntInterrupt) {
  guest_.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  for (const unsigned n : set_bits(model().gp_counters)) {
    guest_.pmis = 0;
    guest_.write(msr::PERFEVTSEL0 + n, instructions | (n % 2 != 0 ? msr::evtsel::INT : 0));
    guest_.write(msr::PMC0 + n, 1 - 10 * N);
    guest_.enable_globally(bit(n));
    guest_.run_loop(N);
    guest_.settle();
    guest_.enable_globally(0);
    EXPECT_EQ(guest_.pmis, n % 2) << "counter " << n;
    guest_.write(msr::PERF_GLOBAL_STATUS_RESET, bit(n));
    guest_.write(msr::PERFEVTSEL0 + n, 0);
  }
}

// 7.1 row 10
TEST_P(AnyModel, CmaskCountsFewerCyclesThanInstructions) {
  guest_.write(msr::PERFEVTSEL0, instructions);
  guest_.write(msr::PERFEVTSEL0 + 1, instructions | u64{2} << 24);
  guest_.enable_globally(3);
  guest_.retire_instructions(99, 3);
  guest_.settle();
  EXPECT_EQ(guest_.read(msr::PMC0), 99u);
  EXPECT_EQ(guest_.read(msr::PMC0 + 1), 33u) << "cycles with at least two";
}

// 7.1 rows 11 and 12
TEST_P(AnyModel, WritesToARunningCounterTakeEffectAtOnce) {
  guest_.write(msr::PERFEVTSEL0, branches);
  guest_.enable_globally(1);
  guest_.run_loop(7);
  guest_.write(msr::PMC0, 0);
  guest_.run_loop(N);
  EXPECT_EQ(guest_.read(msr::PMC0), N);
}
TEST_P(Version2, AllOnesInARunningCounterOverflowAtTheNextEvent) {
  guest_.write(msr::PERFEVTSEL0, instructions);
  guest_.enable_globally(1);
  guest_.retire_instructions(3);
  guest_.write(msr::PMC0, 0xFFFFFFFF);
  guest_.retire_instructions(1);
  EXPECT_EQ(guest_.read(msr::PMC0), 0u);
  EXPECT_EQ(guest_.read(msr::PERF_GLOBAL_STATUS), 1u);
}

// 7.1 row 16
TEST_P(Transactional, CountersInsideATransactionCountACommittedLoop) {
  guest_.write(msr::PERFEVTSEL0, instructions | msr::evtsel::IN_TX);
  guest_.write(msr::PERFEVTSEL0 + 2, instructions | msr::evtsel::IN_TX | msr::evtsel::IN_TXCP);
  guest_.enable_globally(5);
  guest_.retire_instructions(4);
  guest_.retire_instructions(6, 1, TxState::in_tx);
  guest_.retire_instructions(4);
  EXPECT_EQ(guest_.read(msr::PMC0), 6u);
  EXPECT_EQ(guest_.read(msr::PMC0 + 2), 6u);
}
TEST_P(Transactional, AnAbortTakesBackACheckpointedCountersCount) {
  guest_.write(msr::PERFEVTSEL0, instructions);
  guest_.write(msr::PERFEVTSEL0 + 2, instructions | msr::evtsel::IN_TXCP);
  guest_.enable_globally(5);
  guest_.retire_instructions(4);
  guest_.retire_instructions(6, 1, TxState::in_tx);
  guest_.abort_transaction();
  EXPECT_EQ(guest_.read(msr::PMC0), 10u);
  EXPECT_EQ(guest_.read(msr::PMC0 + 2), 4u);
}

// 7.2 rows 3, 5, 6 and 7
TEST_P(AnyModel, AbsentCountersFaultInEveryRegisterThatNamesThem) {
  for (unsigned n = 0; n < 16; ++n) {
    const bool exists = (model().gp_counters >> n & 1) != 0;
    EXPECT_EQ(guest_.pmu.rdmsr(msr::PMC0 + n).ok(), exists) << n;
    EXPECT_EQ(!guest_.faults(msr::PERFEVTSEL0 + n, 0), exists) << n;
  }
  for (unsigned m = 0; m < 8; ++m) {
    const bool exists = (model().fixed_counters >> m & 1) != 0;
    EXPECT_EQ(guest_.pmu.rdmsr(msr::FIXED_CTR0 + m).ok(), exists) << m;
    EXPECT_EQ(!guest_.faults(msr::FIXED_CTR_CTRL, u64{3} << (4 * m)), exists) << m;
    EXPECT_EQ(!guest_.faults(msr::PERF_GLOBAL_CTRL, bit(32 + m)), exists) << m;
  }
}
TEST_P(AnyModel, GlobalCtrlEnablesEveryGpCounterAfterReset) {
  const auto global_ctrl = guest_.pmu.rdmsr(msr::PERF_GLOBAL_CTRL);
  EXPECT_EQ(global_ctrl.ok(), guest_.has_global_ctrl());
  EXPECT_EQ(global_ctrl.value_or(0), guest_.has_global_ctrl() ? bit(gp_count()) - 1 : 0);
}

// 7.3
TEST_P(Version2, StatusAndCapabilitiesCannotBeWritten) {
  EXPECT_TRUE(guest_.faults(msr::PERF_GLOBAL_STATUS, guest_.read(msr::PERF_GLOBAL_STATUS)));
  EXPECT_TRUE(guest_.faults(msr::PERF_CAPABILITIES, guest_.read(msr::PERF_CAPABILITIES)));
}
TEST_P(AnyModel, TheDriversProbeOfACounterReadsBackWhatItToggled) {
  const u64 toggled = guest_.read(msr::PMC0) ^ 0xFFFF;
  guest_.write(msr::PMC0, toggled);
  EXPECT_EQ(guest_.read(msr::PMC0), toggled);
}

}  // namespace
}  // namespace pmusim::guest_counting_test
