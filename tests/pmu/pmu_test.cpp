// SPDX-License-Identifier: MIT
#include "pmusim/pmu/pmu.h"

#include <gtest/gtest.h>

#include <vector>

namespace pmusim::pmu_test {
namespace {

constexpr u64 count_user_instructions = msr::evtsel::USR | msr::evtsel::EN | 0xC0;
constexpr u64 interrupt = msr::evtsel::INT;

/// Counts PMIs and remembers where they came; unmasks LVTPC as a driver does.
class Handler : public PmiHandler {
 public:
  explicit Handler(Pmu& pmu) : pmu_(pmu) { pmu.set_pmi_handler(this); }
  void handle_pmi(const InterruptFrame& frame) override {
    ips.push_back(frame.registers.rip);
    EXPECT_EQ(pmu_.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI), Fault::none);
  }
  std::vector<u64> ips;

 private:
  Pmu& pmu_;
};

CpuModel model(const char* name, u32 skid_cycles) {
  CpuModel m = *find_cpu_model(name);
  m.policies.pmi_skid_cycles = m.policies.pebs_pmi_skid_cycles = skid_cycles;
  return m;
}

void write(Pmu& pmu, u32 address, u64 value) {
  ASSERT_EQ(pmu.wrmsr(address, value), Fault::none) << std::hex << address << " <- " << value;
}
u64 read(Pmu& pmu, u32 address) { return *pmu.rdmsr(address); }

/// An instruction per cycle, at 0x1000 + 4 * cycle.
Retirement instruction(u64 cycle) {
  return {.ip = 0x1000 + 4 * cycle,
          .next_ip = 0x1004 + 4 * cycle,
          .cycle = cycle,
          .signals = {Signal::instruction},
          .length = 4};
}

/// GP 0 counts user instructions and overflows on the `period`-th.
void sample_instructions(Pmu& pmu, u64 period, u64 more_select_bits = interrupt) {
  write(pmu, msr::A_PMC0, low_bits(48) & -period);
  write(pmu, msr::PERFEVTSEL0, count_user_instructions | more_select_bits);
  write(pmu, msr::PERF_GLOBAL_CTRL, 1);
  write(pmu, msr::X2APIC_LVTPC, msr::lvtpc::NMI);
}

TEST(Time, WaitingHandlesPmisOnTheWay) {
  Pmu pmu(model("icelake", 10));
  Handler handler(pmu);
  write(pmu, msr::FIXED_CTR0 + 1, low_bits(48) & -u64{100});
  write(pmu, msr::FIXED_CTR_CTRL, 0xB0);
  write(pmu, msr::PERF_GLOBAL_CTRL, bit(33));
  write(pmu, msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  InterruptFrame idle;
  idle.registers.rip = 0x77;
  pmu.wait_until(1000, idle);
  EXPECT_EQ(pmu.now(), 1000u);
  EXPECT_EQ(handler.ips, std::vector<u64>{0x77});
}

/// SDM vol. 3B, "Counting Clocks": the TSC is invariant, unhalted clocks and APERF, MPERF stand still.
TEST(Time, AHaltedProcessorCountsNothingButTheTsc) {
  Pmu pmu(model("icelake", 0));
  Pmu other = pmu;
  for (Pmu* const each : {&pmu, &other}) {
    write(*each, msr::FIXED_CTR_CTRL, 0x333);
    write(*each, msr::PERFEVTSEL0, count_user_instructions | bit(24));  // CMASK 1: cycles with an instruction
    write(*each, msr::PERF_GLOBAL_CTRL, 1 | bit(32) | bit(33) | bit(34));
    each->retire(instruction(10));
  }
  pmu.halt_until(1'000'000, {});
  EXPECT_EQ(pmu.tsc(), 1'000'000u);
  Retirement next = instruction(20);
  other.retire(next);
  next.cycle = 1'000'010;
  pmu.retire(next);
  for (const u32 address :
       {msr::FIXED_CTR0, msr::FIXED_CTR0 + 1, msr::FIXED_CTR0 + 2, msr::PMC0, msr::APERF, msr::MPERF})
    EXPECT_EQ(read(pmu, address), read(other, address)) << std::hex << address;
  EXPECT_EQ(read(pmu, msr::FIXED_CTR0 + 1), 20u);
}

TEST(Time, HaltingHandlesPmisOnTheWay) {
  Pmu pmu(model("icelake", 100));
  Handler handler(pmu);
  sample_instructions(pmu, 1);
  pmu.retire(instruction(1));
  InterruptFrame idle;
  idle.registers.rip = 0x77;
  pmu.halt_until(1000, idle);
  EXPECT_EQ(handler.ips, std::vector<u64>{0x77});
  EXPECT_EQ(pmu.now(), 1000u);
}

TEST(Snapshot, ACopyGoesItsOwnWay) {
  Pmu pmu(model("icelake", 0));
  sample_instructions(pmu, 1000, 0);
  pmu.retire(instruction(1));
  Pmu copy = pmu;
  copy.retire(instruction(2));
  EXPECT_EQ(read(copy, msr::PMC0), read(pmu, msr::PMC0) + 1);
}

TEST(Reset, RegistersTakeTheirResetValuesAndTimeGoesOn) {
  Pmu pmu(model("icelake", 0));
  sample_instructions(pmu, 3);
  for (u64 cycle = 1; cycle <= 6; ++cycle) pmu.retire(instruction(cycle));
  pmu.reset();
  EXPECT_EQ(read(pmu, msr::PERF_GLOBAL_STATUS), 0u);
  EXPECT_EQ(read(pmu, msr::PERFEVTSEL0), 0u);
  EXPECT_EQ(read(pmu, msr::PMC0), 0u);
  EXPECT_EQ(read(pmu, msr::PERF_GLOBAL_CTRL), 0xFFu);
  EXPECT_EQ(read(pmu, msr::X2APIC_LVTPC), msr::lvtpc::MASKED);
  EXPECT_EQ(pmu.now(), 6u);
}

/// A Pmu whose LBR has recorded one branch, to 2000.
Pmu with_one_branch(const char* name) {
  Pmu pmu(*find_cpu_model(name));
  const bool arch = pmu.model().has_arch_lbr();
  write(pmu, arch ? msr::ARCH_LBR_CTL : msr::DEBUGCTL, arch ? 0x7F000Fu : msr::debugctl::LBR);
  pmu.retire({.ip = 0x1000, .next_ip = 0x2000, .cycle = 1, .branch = BranchKind::direct_jump, .taken = true});
  return pmu;
}

u64 newest_target(Pmu& pmu) {
  constexpr u32 lastbranch_0_to_ip = 0x6C0;
  return read(pmu, pmu.model().has_arch_lbr()
                       ? msr::ARCH_LBR_TO_0
                       : lastbranch_0_to_ip + static_cast<u32>(read(pmu, msr::LBR_TOS)));
}

// SDM vol. 3, architectural LBR: "on a warm reset".
TEST(WarmReset, LeavesArchitecturalLbrItsRegistersWithoutTheEnable) {
  Pmu pmu = with_one_branch("lioncove");
  sample_instructions(pmu, 3);
  pmu.warm_reset();
  EXPECT_EQ(read(pmu, msr::PERFEVTSEL0), 0u);
  EXPECT_EQ(read(pmu, msr::ARCH_LBR_CTL), 0x7F000Eu);
  EXPECT_EQ(newest_target(pmu), 0x2000u);
}

TEST(WarmReset, OfLegacyLbrIsAReset) {
  Pmu pmu = with_one_branch("skylake");
  pmu.warm_reset();
  EXPECT_EQ(read(pmu, msr::LBR_TOS), 0u);
  EXPECT_EQ(newest_target(pmu), 0u);
}

TEST(DeepSleep, TakesTheBranchRecordsOfSkylakeAndNothingElse) {
  Pmu skylake = with_one_branch("skylake"), haswell = with_one_branch("haswell");
  write(skylake, msr::PMC0, 7);
  for (Pmu* pmu : {&skylake, &haswell}) pmu->deep_sleep();
  EXPECT_EQ(newest_target(skylake), 0u);
  EXPECT_EQ(newest_target(haswell), 0x2000u);
  EXPECT_EQ(read(skylake, msr::PMC0), 7u);
  EXPECT_EQ(read(skylake, msr::DEBUGCTL), msr::debugctl::LBR);
}

}  // namespace
}  // namespace pmusim::pmu_test
