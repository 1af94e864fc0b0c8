// SPDX-License-Identifier: MIT
// How a PMI reaches software: LVTPC's modes and addresses, boundaries, and handlers whose code retires too.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "pmusim/pmu/pmu.h"

namespace pmusim::interrupt_test {
namespace {

CpuModel skylake(u32 skid_cycles = 0) {
  CpuModel model = *find_cpu_model("skylake");
  model.policies.pmi_skid_cycles = skid_cycles;
  return model;
}

/// GP 0 counts instructions in user mode and interrupts at each; a handler that notes where it was called.
class Interrupts : public PmiHandler {
 public:
  explicit Interrupts(CpuModel model = skylake(), u64 lvtpc = msr::lvtpc::NMI) : pmu(std::move(model)) {
    pmu.set_pmi_handler(this);
    write(msr::PERFEVTSEL0, 0x5100C0);
    write(msr::PERF_GLOBAL_CTRL, 1);
    if (pmu.model().has_x2apic) write(msr::X2APIC_LVTPC, lvtpc);
  }
  void write(u32 address, u64 value) {
    EXPECT_EQ(pmu.wrmsr(address, value), Fault::none) << std::hex << address;
  }
  void overflow_at_next() { write(msr::A_PMC0, low_bits(48)); }
  void retire(u64 cycle, u64 ip, Cpl cpl = Cpl::user, const Registers* registers = nullptr) {
    pmu.retire({.ip = ip,
                .next_ip = ip + 4,
                .cycle = cycle,
                .signals = {Signal::instruction},
                .length = 4,
                .cpl = cpl,
                .cpl_after = cpl,
                .registers = registers});
  }
  void handle_pmi(const InterruptFrame& frame) override {
    frames.push_back(frame);
    cycles.push_back(pmu.now());
    for (u64 n = 1; n <= handler_instructions; ++n)
      retire(pmu.now() + 1, 0xFFFF8000'00000000 + n, Cpl::kernel);
  }

  Pmu pmu;
  std::vector<InterruptFrame> frames;
  std::vector<u64> cycles;
  u64 handler_instructions = 0;
};

TEST(Interrupt, MayBeTakenAtTheBoundaryAfterItsCause) {
  CpuModel model = skylake();
  model.policies.pmi_boundary = 1;
  Interrupts machine(model);
  machine.overflow_at_next();
  Registers registers;
  registers[Gpr::rax] = 7;
  machine.retire(10, 0x1000, Cpl::user, &registers);
  ASSERT_EQ(machine.frames.size(), 1u);
  EXPECT_EQ(machine.cycles[0], 10u);
  EXPECT_EQ(machine.frames[0].registers.rip, 0x1004u);
  EXPECT_EQ(machine.frames[0].cpl, Cpl::user);
  EXPECT_EQ(machine.frames[0].registers[Gpr::rax], 7u);  // as the instruction left them
}

TEST(Interrupt, AHandlersOwnInstructionsCountAndTakeTime) {
  Interrupts machine;
  machine.write(msr::FIXED_CTR_CTRL, 0x1);  // instructions of ring 0
  machine.write(msr::PERF_GLOBAL_CTRL, 0x1'00000001);
  machine.handler_instructions = 100;
  machine.overflow_at_next();
  machine.retire(10, 0x1000);
  machine.retire(20, 0x1004);
  EXPECT_EQ(machine.pmu.rdmsr(msr::FIXED_CTR0).value_or(0), 100u);
  EXPECT_EQ(machine.pmu.now(), 120u);
  EXPECT_EQ(machine.pmu.rdmsr(msr::PMC0).value_or(0), 1u);  // the interrupted one, after its handler
  machine.retire(21, 0x1008);                               // should have retired long ago
  EXPECT_EQ(machine.pmu.now(), 120u);
  EXPECT_EQ(machine.pmu.rdmsr(msr::PMC0).value_or(0), 2u);
}

TEST(Interrupt, AHandlerIsNotInterruptedAndItsFrameIsKept) {
  Interrupts machine;
  machine.write(msr::PERFEVTSEL0, 0x5300C0);  // ring 0 too
  machine.handler_instructions = 3;
  Registers registers;
  registers[Gpr::rbx] = 5;
  machine.overflow_at_next();
  machine.retire(10, 0x1000, Cpl::user, &registers);
  class Unmasks : public PmiHandler {
   public:
    explicit Unmasks(Interrupts& machine) : machine_(machine) {}
    void handle_pmi(const InterruptFrame& frame) override {
      rbx.push_back(frame.registers[Gpr::rbx]);
      deepest = std::max(deepest, ++depth_);
      machine_.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
      if (rbx.size() == 1) machine_.overflow_at_next();
      Registers own;
      own[Gpr::rbx] = 99;
      machine_.retire(machine_.pmu.now() + 1, 0xFFFF8000'00000000, Cpl::kernel, &own);
      machine_.retire(machine_.pmu.now() + 1, 0xFFFF8000'00000004, Cpl::kernel, &own);
      --depth_;
    }
    std::vector<u64> rbx;
    unsigned deepest = 0;

   private:
    Interrupts& machine_;
    unsigned depth_ = 0;
  } handler(machine);
  machine.pmu.set_pmi_handler(&handler);
  machine.retire(20, 0x1004, Cpl::user, &registers);
  EXPECT_EQ(handler.rbx, (std::vector<u64>{5, 5}));
  EXPECT_EQ(handler.deepest, 1u);
}

TEST(LocalApic, AnSmiReachesNoHandlerAndMasksTheEntry) {
  Interrupts machine(skylake(), msr::lvtpc::SMI);
  machine.overflow_at_next();
  machine.retire(10, 0x1000);
  machine.retire(20, 0x1004);
  EXPECT_TRUE(machine.frames.empty());
  EXPECT_EQ(machine.pmu.rdmsr(msr::X2APIC_LVTPC).value_or(0), msr::lvtpc::SMI | msr::lvtpc::MASKED);
}

TEST(LocalApic, AFixedVectorWaitsForEnabledInterruptsUnlikeAnNmi) {
  for (const u64 lvtpc : {u64{0xE0}, msr::lvtpc::NMI}) {
    Interrupts machine(skylake(), lvtpc);
    Registers closed, open;
    closed.rflags = 0x2;
    machine.overflow_at_next();
    machine.retire(10, 0x1000, Cpl::kernel, &closed);
    machine.retire(20, 0x1004, Cpl::user, &closed);
    machine.retire(30, 0x1008, Cpl::kernel, &open);
    EXPECT_EQ(machine.frames.size(), lvtpc == msr::lvtpc::NMI ? 1u : 0u);
    machine.retire(40, 0x100C, Cpl::kernel, &open);
    ASSERT_EQ(machine.frames.size(), 1u);
    EXPECT_EQ(machine.frames[0].registers.rip, lvtpc == msr::lvtpc::NMI ? 0x1008u : 0x100Cu);
  }
}

TEST(LocalApic, IsInMemoryWhereThereIsNoX2apic) {
  CpuModel model = skylake();
  model.has_x2apic = false;
  Interrupts machine(model);
  EXPECT_FALSE(machine.pmu.rdmsr(msr::X2APIC_LVTPC).ok());
  const std::array<std::byte, 4> nmi{std::byte{0}, std::byte{4}};
  std::array<std::byte, 4> entry{};
  EXPECT_EQ(machine.pmu.read_memory(0xFEE00340, entry), Fault::none);
  EXPECT_EQ(entry[2], std::byte{1});  // masked
  EXPECT_EQ(machine.pmu.write_memory(0xFEE00340, nmi), Fault::none);
  machine.overflow_at_next();
  machine.retire(10, 0x1000);
  machine.retire(20, 0x1004);
  EXPECT_EQ(machine.frames.size(), 1u);
  EXPECT_EQ(Pmu(skylake()).read_memory(0xFEE00340, entry), Fault::pf);
}

TEST(Memory, OfTheCallerHoldsWhatHardwareWrites) {
  std::vector<std::byte> area(0x1000), buffer(0x1000);
  Pmu pmu(*find_cpu_model("skylake"));
  ASSERT_TRUE(pmu.map_memory(0x10000, area));
  ASSERT_TRUE(pmu.map_memory(0x20000, buffer));
  const std::array<u64, 4> bts{0x20000, 0x20000, 0x21000, 0x21000};
  std::memcpy(area.data(), bts.data(), sizeof bts);
  ASSERT_EQ(pmu.wrmsr(msr::DS_AREA, 0x10000), Fault::none);
  ASSERT_EQ(pmu.wrmsr(msr::DEBUGCTL, msr::debugctl::TR | msr::debugctl::BTS), Fault::none);
  pmu.retire({.ip = 0x1000,
              .next_ip = 0x2000,
              .cycle = 1,
              .signals = {Signal::instruction},
              .branch = BranchKind::direct_jump,
              .taken = true});
  u64 from = 0;
  std::memcpy(&from, buffer.data(), sizeof from);
  EXPECT_EQ(from, 0x1000u);
  EXPECT_TRUE(pmu.unmap_memory(0x20000));
  std::array<std::byte, 1> byte{};
  EXPECT_EQ(pmu.read_memory(0x20000, byte), Fault::pf);
}

}  // namespace
}  // namespace pmusim::interrupt_test
