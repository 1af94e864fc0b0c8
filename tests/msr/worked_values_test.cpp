// SPDX-License-Identifier: MIT
// Values worked out by hand from SDM vol. 3, counters and their controls, where the rule is not a
// table.
#include "tests/msr/msr_machine.h"

namespace pmusim {
namespace {

using testing::MsrMachine;

TEST(WorkedValues, LegacyWritesExtendBit31AndIgnoreEdx) {
  MsrMachine skylake("skylake"), core2("core2");
  skylake.write(msr::PMC0, 0x0000000180000000);
  EXPECT_EQ(skylake.read(msr::PMC0), 0xFFFF80000000u);
  core2.write(msr::PMC0, 0xFFFFFFFF);
  EXPECT_EQ(core2.read(msr::PMC0), 0xFFFFFFFFFFu);
}

TEST(WorkedValues, FullWidthWritesTakeEveryBitOfTheCounter) {
  MsrMachine m("skylake");
  EXPECT_EQ(m.wrmsr(msr::A_PMC0, bit(48)), Fault::gp);
  m.write(msr::A_PMC0, 0xFFFFFFFFFFFF);
  m.write(msr::PERFEVTSEL0, 0x4300C0);
  EXPECT_EQ(m.retire_at(1, {Signal::instruction}).overflowed, 1u);
  EXPECT_EQ(m.read(msr::PMC0), 0u);
}

TEST(WorkedValues, EnablesOfAbsentCountersFault) {
  EXPECT_EQ(MsrMachine("nehalem").wrmsr(msr::PERF_GLOBAL_CTRL, 0x70000001F), Fault::gp);
  EXPECT_EQ(MsrMachine("icelake").wrmsr(msr::PERF_GLOBAL_CTRL, 0x1000F000000FF), Fault::none);
  EXPECT_EQ(MsrMachine("skylake").wrmsr(msr::PERF_GLOBAL_CTRL, bit(48)), Fault::gp);
  EXPECT_EQ(MsrMachine("lioncove").wrmsr(msr::PERF_GLOBAL_CTRL, 0x1000F000003FF), Fault::none);
  MsrMachine skymont("skymont");
  EXPECT_EQ(skymont.wrmsr(msr::FIXED_CTR_CTRL, 0x8000), Fault::gp) << "fixed counter 3 is the gap";
  EXPECT_EQ(skymont.wrmsr(msr::FIXED_CTR_CTRL, 0xB0000), Fault::none);
  EXPECT_EQ(skymont.wrmsr(msr::FIXED_CTR_CTRL, 0x40000), Fault::gp) << "AnyThread";
}

TEST(WorkedValues, MasksFollowAModelOfOnesOwn) {  // "Skylake, but with 8 GP counters"
  CpuModel mine = find_cpu_model("skylake").value();
  mine.gp_counters = 0xFF;
  MsrMachine m(mine);
  EXPECT_EQ(m.read(msr::PERF_GLOBAL_CTRL), 0xFFu);
  m.write(msr::PMC0 + 7, 1);
  m.write(msr::A_PMC0 + 7, 1);
  m.write(msr::PERF_GLOBAL_CTRL, 0x7000000FF);
  EXPECT_EQ(m.wrmsr(msr::PERF_GLOBAL_CTRL, bit(8)), Fault::gp);
  EXPECT_FALSE(m.rdmsr(msr::PMC0 + 8).ok());
}

TEST(WorkedValues, EightFixedCountersHaveEightControlNibbles) {
  CpuModel mine = find_cpu_model("skymont").value();
  mine.fixed_counters = 0xFF;
  EXPECT_EQ(MsrMachine(mine).wrmsr(msr::FIXED_CTR_CTRL, 0xBBBBBBBB), Fault::none);
  mine.fixed_counters = 0x7F;
  EXPECT_EQ(MsrMachine(mine).wrmsr(msr::FIXED_CTR_CTRL, 0x0BBBBBBB), Fault::none);
  EXPECT_EQ(MsrMachine(mine).wrmsr(msr::FIXED_CTR_CTRL, 0x10000000), Fault::gp);
}

TEST(WorkedValues, ASelectHasThoseOfItsNewerBitsThatCpuidNames) {  // CPUID.23H:EBX
  using namespace msr::evtsel;
  constexpr std::pair<u32, u64> named[] = {{bit(0), UMASK2}, {bit(1), EQ}, {bit(2), RDPMC_USR_DISABLE}};
  CpuModel model = find_cpu_model("lioncove").value();
  for (const auto& [leaf, present] : named) {
    model.perfmon_ext_ebx = leaf;
    for (const auto& [other, tried] : named)
      EXPECT_EQ(MsrMachine(model).wrmsr(msr::PERFEVTSEL0, tried) == Fault::none, tried == present)
          << std::hex << tried << " with EBX " << leaf;
  }
}

TEST(WorkedValues, AFaultingWriteChangesNothing) {
  MsrMachine m("skylake");
  m.write(msr::PERF_GLOBAL_CTRL, 5);
  EXPECT_EQ(m.wrmsr(msr::PERF_GLOBAL_CTRL, 0xF0 | 1), Fault::gp);
  EXPECT_EQ(m.read(msr::PERF_GLOBAL_CTRL), 5u);
}

TEST(WorkedValues, InUseIsDerivedFromSelectsAndControl) {
  MsrMachine m("skylake");
  m.write(msr::PERFEVTSEL0, 0x53003C);
  m.write(msr::FIXED_CTR_CTRL, 0xB0);
  EXPECT_EQ(m.read(msr::PERF_GLOBAL_INUSE), bit(0) | bit(33) | bit(63));
  m.write(msr::PERFEVTSEL0, 0x03003C);
  m.write(msr::FIXED_CTR_CTRL, 0);
  EXPECT_EQ(m.read(msr::PERF_GLOBAL_INUSE), bit(0)) << "in use by its event code, enabled or not";
}

TEST(WorkedValues, RdpmcOfFixedCounter3NeedsOne) {
  EXPECT_FALSE(MsrMachine("skylake").counters.rdpmc(0x40000003, Cpl::kernel, false).ok());
  MsrMachine icelake("icelake");
  icelake.write(msr::FIXED_CTR0 + 3, 77);
  EXPECT_EQ(*icelake.counters.rdpmc(0x40000003, Cpl::kernel, false), 77u);
}

TEST(WorkedValues, AnInvalidIndexFaultsWhateverThePermission) {
  MsrMachine m("icelake");
  EXPECT_FALSE(m.counters.rdpmc(64, Cpl::kernel, true).ok());
  EXPECT_FALSE(m.counters.rdpmc(0x80000000, Cpl::kernel, true).ok()) << "fast mode is part of the type field";
  EXPECT_TRUE(m.counters.rdpmc(7, Cpl::user, true).ok());
  EXPECT_FALSE(m.counters.rdpmc(7, Cpl::user, false).ok());
}

TEST(WorkedValues, ACounterHiddenFromUsersReadsZeroThere) {  // RDPMC_USR_DISABLE
  CpuModel model = find_cpu_model("lioncove").value();
  model.perfmon_ext_ebx |= 4;
  MsrMachine m(model);
  m.write(msr::A_PMC0, 5);
  m.write(msr::PERFEVTSEL0, msr::evtsel::RDPMC_USR_DISABLE);
  m.write(msr::FIXED_CTR0, 6);
  m.write(msr::FIXED_CTR_CTRL, msr::fixed_ctrl::RDPMC_USR_DISABLE);
  EXPECT_EQ(*m.counters.rdpmc(0, Cpl::user, true), 0u);
  EXPECT_EQ(*m.counters.rdpmc(0x40000000, Cpl::user, true), 0u);
  EXPECT_EQ(*m.counters.rdpmc(0, Cpl::kernel, true), 5u);
}

// Bit 33 + 4 n of FIXED_CTR_CTRL, up to that of counter 7; counters behind it have none.
TEST(WorkedValues, EachFixedCounterIsHiddenByItsOwnBit) {
  CpuModel model = find_cpu_model("lioncove").value();
  model.perfmon_ext_ebx |= 4;
  model.fixed_counters = 0x3FF;
  MsrMachine m(model);
  for (unsigned n = 0; n < 10; ++n) m.write(msr::FIXED_CTR0 + n, 100 + n);
  for (unsigned hidden = 0; hidden < 8; ++hidden) {
    m.write(msr::FIXED_CTR_CTRL, bit(33 + 4 * hidden));
    for (unsigned n = 0; n < 10; ++n)
      EXPECT_EQ(*m.counters.rdpmc(0x40000000 + n, Cpl::user, true), n == hidden ? 0 : 100 + n) << hidden;
  }
}

/// A cycle's worth of slots on Ice Lake: 5, of which 2 retire, 1 is lost to the front end.
Retirement slots_of_a_cycle(u64 cycle) {
  Retirement r;
  r.cycle = cycle;
  r.quantities[static_cast<unsigned>(Quantity::uops)] = 2;
  r.quantities[static_cast<unsigned>(Quantity::slots_frontend)] = 1;
  r.quantities[static_cast<unsigned>(Quantity::slots_backend)] = 2;
  return r;
}
void count_metrics(MsrMachine& m, u64 cycles) {
  for (u64 cycle = m.counters.now() + 1, end = cycle + cycles; cycle < end; ++cycle) {
    m.pass_to(cycle);
    m.counters.retire(slots_of_a_cycle(cycle));
  }
}

TEST(PerfMetrics, BytesAreFractionsOfSlots) {
  MsrMachine m("icelake");
  m.write(msr::FIXED_CTR_CTRL, 0x3000);
  m.write(msr::PERF_GLOBAL_CTRL, bit(35) | bit(48));
  count_metrics(m, 100);
  EXPECT_EQ(m.read(msr::FIXED_CTR0 + 3), 500u);
  EXPECT_EQ(m.read(msr::PERF_METRICS), 0x66330066u) << "2/5, 0, 1/5 and 2/5 of FF";
}

TEST(PerfMetrics, ContinueFromWhatSoftwareRestores) {  // SLOTS first, then the metrics
  MsrMachine m("icelake");
  m.write(msr::FIXED_CTR_CTRL, 0x3000);
  m.write(msr::PERF_GLOBAL_CTRL, bit(35) | bit(48));
  m.write(msr::FIXED_CTR0 + 3, 500);
  m.write(msr::PERF_METRICS, 0x000000FF);  // everything retired so far
  count_metrics(m, 100);
  EXPECT_EQ(m.read(msr::PERF_METRICS) & 0xFF, 179u) << "(500 + 200) of 1000, in 255ths";
}

TEST(PerfMetrics, TheInternalCountersOverflowIntoBit48) {
  MsrMachine m("icelake");
  m.write(msr::FIXED_CTR_CTRL, 0x3000);
  m.write(msr::PERF_GLOBAL_CTRL, bit(35) | bit(48));
  m.write(msr::FIXED_CTR0 + 3, low_bits(48) / 255 * 255);
  m.write(msr::PERF_METRICS, 0xFF);
  Counted counted;
  for (u64 cycle = 1; cycle < 200 && (counted.overflowed & bit(48)) == 0; ++cycle) {
    m.pass_to(cycle);
    counted = m.counters.retire(slots_of_a_cycle(cycle));
  }
  EXPECT_EQ(counted.overflowed, bit(48));
  EXPECT_NE(m.counters.interrupting() & bit(48), 0u);
}

TEST(PerfMetrics, RdpmcClearsThemWhereThePartCan) {  // FIXED_CTR_CTRL[14], PERF_CAPABILITIES[19]
  MsrMachine m("diamondrapids");
  m.write(msr::FIXED_CTR0 + 3, 1000);
  m.write(msr::PERF_METRICS, 0x40);
  m.write(msr::FIXED_CTR_CTRL, msr::fixed_ctrl::METRICS_CLEAR);
  EXPECT_EQ(*m.counters.rdpmc(0x20000000, Cpl::kernel, false), 0x40u);
  EXPECT_EQ(m.read(msr::PERF_METRICS), 0u);
  EXPECT_EQ(m.read(msr::FIXED_CTR0 + 3), 0u);
}

TEST(FixedCounters, CountTheirEvents) {  // SDM vol. 3, fixed-function counters
  MsrMachine m("skymont");
  m.write(msr::FIXED_CTR_CTRL, 0x3330333);
  m.write(msr::PERF_GLOBAL_CTRL, u64{0x77} << 32);
  Retirement r = slots_of_a_cycle(10);
  r.signals = {Signal::instruction};
  r.quantities[static_cast<unsigned>(Quantity::slots_bad_speculation)] = 7;
  m.pass_to(10);
  m.counters.retire(r);
  EXPECT_EQ(m.read(msr::FIXED_CTR0), 1u);
  EXPECT_EQ(m.read(msr::FIXED_CTR0 + 1), 10u);
  EXPECT_EQ(m.read(msr::FIXED_CTR0 + 2), 10u) << "TSC ticks";
  EXPECT_EQ(m.read(msr::FIXED_CTR0 + 4), 7u) << "bad speculation";
  EXPECT_EQ(m.read(msr::FIXED_CTR0 + 5), 1u) << "front-end bound";
  EXPECT_EQ(m.read(msr::FIXED_CTR0 + 6), 2u) << "retiring";
}

TEST(ReferenceCycles, Event3C01IsTheTscSinceGoldenCove) {
  MsrMachine skylake("skylake"), goldencove("goldencove");
  for (MsrMachine* m : {&skylake, &goldencove}) {
    m->write(msr::PERFEVTSEL0, 0x43013C);
    m->pass_to(2207);
  }
  EXPECT_EQ(skylake.read(msr::PMC0), 100u) << "100 MHz where the TSC has 2207";
  EXPECT_EQ(goldencove.read(msr::PMC0), 2207u);
}

// SDM vol. 3, RDPMC_USR_DISABLE: it hides its own counter, from ring 3 alone.
TEST(WorkedValues, RdpmcInRing3ReadsWhatIsNotHidden) {
  MsrMachine m("lioncove");
  m.write(msr::FIXED_CTR0, 7);
  m.write(msr::FIXED_CTR0 + 1, 8);
  EXPECT_EQ(m.counters.rdpmc(0x4000'0000, Cpl::user, true).value_or(99), 7u);
  EXPECT_EQ(m.counters.rdpmc(0x4000'0001, Cpl::user, true).value_or(99), 8u);
}

}  // namespace
}  // namespace pmusim
