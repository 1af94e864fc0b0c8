#include "pmusim/pmu/pmu.h"

#include <gtest/gtest.h>

#include <vector>

#include "pmusim/arch/lbr.h"

namespace pmusim {
namespace {

constexpr u64 count_user_instructions = msr::evtsel::USR | msr::evtsel::EN | 0xC0;
constexpr u64 interrupt = msr::evtsel::INT;

/// Counts PMIs and remembers where they came; unmasks LVTPC as a driver does.
class Handler : public PmiHandler {
 public:
  explicit Handler(Pmu& pmu) : pmu_(pmu) { pmu.set_pmi_handler(this); }
  void handle_pmi(const InterruptFrame& frame) override {
    ips.push_back(frame.registers.rip);
    masked_on_entry = (*pmu_.rdmsr(msr::X2APIC_LVTPC) & msr::lvtpc::MASKED) != 0;
    if (!unmasks) return;
    EXPECT_EQ(pmu_.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI), Fault::none);
  }
  std::vector<u64> ips;
  bool masked_on_entry = false;
  bool unmasks = true;

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
Retirement branch(u64 cycle, u64 target) {
  Retirement r = instruction(cycle);
  r.next_ip = target;
  r.branch = BranchKind::direct_jump;
  r.taken = true;
  r.signals.add(Signal::branch);
  return r;
}

/// GP 0 counts user instructions and overflows on the `period`-th.
void sample_instructions(Pmu& pmu, u64 period, u64 more_select_bits = interrupt) {
  write(pmu, msr::A_PMC0, low_bits(48) & -period);
  write(pmu, msr::PERFEVTSEL0, count_user_instructions | more_select_bits);
  write(pmu, msr::PERF_GLOBAL_CTRL, 1);
  write(pmu, msr::X2APIC_LVTPC, msr::lvtpc::NMI);
}

TEST(LoggedEvents, ABranchRecordCountsThoseSinceTheRecordBefore) {  // SDM vol. 3, LBR event logging
  Pmu pmu(model("lioncove", 0));
  write(pmu, msr::ARCH_LBR_CTL, ~lbr_ctl::CALL_STACK & 0x7F000F);
  write(pmu, msr::PERFEVTSEL0, count_user_instructions | msr::evtsel::BR_CNTR);
  write(pmu, msr::PERF_GLOBAL_CTRL, 1);
  pmu.retire(instruction(1));
  pmu.retire(branch(2, 0x2000));
  pmu.retire(branch(3, 0x3000));
  const auto logged = [&](u32 entry) { return field(read(pmu, msr::ARCH_LBR_INFO_0 + entry), 33, 32); };
  EXPECT_EQ(logged(1), 2u) << "the instruction before the branch, and the branch";
  EXPECT_EQ(logged(0), 1u) << "the branch alone";
}

TEST(Pmi, ArrivesAtTheBoundaryAfterTheSkid) {
  Pmu pmu(model("icelake", 3));
  Handler handler(pmu);
  sample_instructions(pmu, 5);
  for (u64 cycle = 1; cycle <= 7; ++cycle) pmu.retire(instruction(cycle));
  EXPECT_TRUE(handler.ips.empty());
  EXPECT_EQ(read(pmu, msr::PERF_GLOBAL_STATUS), 1u) << "the status bit does not wait for the interrupt";
  pmu.retire(instruction(8));
  EXPECT_EQ(handler.ips, std::vector<u64>{0x1000 + 4 * 8}) << "overflow in cycle 5, boundary before cycle 8";
}

TEST(Pmi, OverflowWithoutIntSetsStatusAndInterruptsNobody) {
  Pmu pmu(model("icelake", 0));
  Handler handler(pmu);
  sample_instructions(pmu, 2, 0);
  for (u64 cycle = 1; cycle <= 9; ++cycle) pmu.retire(instruction(cycle));
  EXPECT_TRUE(handler.ips.empty());
  EXPECT_EQ(read(pmu, msr::PERF_GLOBAL_STATUS), 1u);
  EXPECT_EQ(read(pmu, msr::PMC0), 7u) << "overflow does not stop the counter";
}

TEST(Pmi, DeliveryMasksLvtpcAndARequestWhileMaskedWaits) {
  Pmu pmu(model("icelake", 0));
  Handler handler(pmu);
  handler.unmasks = false;
  sample_instructions(pmu, 1);
  pmu.retire(instruction(1));
  pmu.retire(instruction(2));
  EXPECT_EQ(handler.ips.size(), 1u);
  EXPECT_TRUE(handler.masked_on_entry);

  write(pmu, msr::A_PMC0, low_bits(48));
  pmu.retire(instruction(3));
  pmu.retire(instruction(4));
  EXPECT_EQ(handler.ips.size(), 1u) << "masked";
  write(pmu, msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  pmu.retire(instruction(5));
  EXPECT_EQ(handler.ips.size(), 2u);
}

TEST(Pmi, ARequestWhileMaskedIsLostIfThePolicySaysSo) {
  CpuModel lossy = model("icelake", 0);
  lossy.policies.pmi_while_masked = 1;
  Pmu pmu(lossy);
  Handler handler(pmu);
  sample_instructions(pmu, 1);
  write(pmu, msr::X2APIC_LVTPC, msr::lvtpc::MASKED);
  pmu.retire(instruction(1));
  write(pmu, msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  pmu.retire(instruction(2));
  EXPECT_TRUE(handler.ips.empty());
  EXPECT_EQ(read(pmu, msr::PERF_GLOBAL_STATUS), 1u);
}

TEST(Freeze, StreamlinedSetsStatusBitsAndStopsCountersUntilTheyAreReset) {
  Pmu pmu(model("icelake", 0));
  Handler handler(pmu);
  sample_instructions(pmu, 3);
  write(pmu, msr::DEBUGCTL, 0x1801);
  for (u64 cycle = 1; cycle <= 6; ++cycle) pmu.retire(branch(cycle, 0x1004 + 4 * cycle));
  EXPECT_EQ(read(pmu, msr::DEBUGCTL), 0x1801u);
  EXPECT_EQ(read(pmu, msr::PERF_GLOBAL_CTRL), 1u);
  EXPECT_EQ(read(pmu, msr::PERF_GLOBAL_STATUS), bit(0) | bit(58) | bit(59));
  EXPECT_EQ(read(pmu, msr::PMC0), 0u);
  EXPECT_EQ(read(pmu, msr::LBR_TOS), 3u) << "the branch that overflowed is recorded, later ones are not";

  write(pmu, msr::PERF_GLOBAL_STATUS_RESET, bit(58) | bit(59));
  pmu.retire(branch(7, 0x2000));
  EXPECT_EQ(read(pmu, msr::PMC0), 1u);
  EXPECT_EQ(read(pmu, msr::LBR_TOS), 4u);
}

TEST(Debug, ExceptionDeliveryStopsBranchRecording) {
  Pmu pmu(model("icelake", 0));
  write(pmu, msr::DEBUGCTL, 1);
  pmu.retire(branch(1, 0x2000));
  pmu.debug_exception();
  pmu.retire(branch(2, 0x3000));
  EXPECT_EQ(read(pmu, msr::DEBUGCTL), 0u);
  EXPECT_EQ(read(pmu, msr::LBR_TOS), 1u);
  EXPECT_EQ(read(pmu, msr::LBR_NHM_TO_IP + 1), 0x2000u);
}

TEST(Time, ACycleCounterOverflowsInTheMiddleOfAStall) {
  Pmu pmu(model("icelake", 10));
  Handler handler(pmu);
  write(pmu, msr::FIXED_CTR0 + 1, low_bits(48) & -u64{100});
  write(pmu, msr::FIXED_CTR_CTRL, 0xB0);
  write(pmu, msr::PERF_GLOBAL_CTRL, bit(33));
  write(pmu, msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  pmu.retire(instruction(105));
  EXPECT_TRUE(handler.ips.empty()) << "overflow at cycle 100, due at 110";
  pmu.retire(instruction(300));
  EXPECT_EQ(handler.ips, std::vector<u64>{0x1000 + 4 * 300}) << "taken before the stalled instruction";
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

TEST(Bus, AbsentRegistersAndReservedBitsFault) {
  Pmu pmu(model("icelake", 0));
  EXPECT_FALSE(pmu.rdmsr(0x12345).ok());
  EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_STATUS, 0), Fault::gp);
  EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_CTRL, bit(63)), Fault::gp);
  EXPECT_EQ(pmu.wrmsr(msr::DS_AREA, bit(47)), Fault::gp) << "not canonical";
}

}  // namespace
}  // namespace pmusim
