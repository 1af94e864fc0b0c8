// SPDX-License-Identifier: MIT
// Architectural LBR (SDM vol. 3, architectural last branch records); XSAVE component 15.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lbr/lbr_machine.h"

namespace pmusim::test::arch_lbr_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace lbr_ctl;

constexpr u64 kernel_ip = 0xFFFFFFFF81000000;
constexpr u64 everything = LBREN | OS | USR | BRANCH_TYPES;

class ArchLbr : public testing::Test {
 protected:
  explicit ArchLbr(CpuModel model = lion_cove()) : m(std::move(model)) { control(everything); }
  void control(u64 value) { ASSERT_EQ(m.wrmsr(msr::ARCH_LBR_CTL, value), Fault::none); }
  void jump_at(u64 cycle) {
    m.record({.from = 0x1000, .to = 0x2000, .cycle = cycle, .kind = BranchKind::direct_jump});
  }
  void system_call() {
    m.record({.from = 0x1000,
              .to = kernel_ip,
              .kind = BranchKind::syscall,
              .cpl_before = Cpl::user,
              .cpl_after = Cpl::kernel});
    m.record({.from = kernel_ip + 0x40,
              .to = 0x1002,
              .kind = BranchKind::sysret,
              .cpl_before = Cpl::kernel,
              .cpl_after = Cpl::user});
    m.branch(0x1004, 0x2000);
  }
  u64 info(unsigned i = 0) const { return m.read(msr::ARCH_LBR_INFO_0 + i); }
  LbrMachine m;
};

TEST_F(ArchLbr, EntryZeroIsAlwaysTheNewest) {
  m.branch(1, 0x11), m.branch(2, 0x12);
  EXPECT_EQ(m.read(msr::ARCH_LBR_FROM_0), 2u);
  EXPECT_EQ(m.read(msr::ARCH_LBR_TO_0), 0x12u);
  EXPECT_EQ(m.read(msr::ARCH_LBR_FROM_0 + 1), 1u);
  EXPECT_EQ(m.read(msr::ARCH_LBR_FROM_0 + 2), 0u);
}

TEST_F(ArchLbr, InfoOfAReturn17CyclesLater) {
  jump_at(100);
  m.record({.from = 0x2004, .to = 0x1004, .cycle = 117, .kind = BranchKind::near_return});
  EXPECT_EQ(info(), 0x1500000000000011u);
}

TEST_F(ArchLbr, EventCountsAreOfTheTimeSinceThePreviousRecord) {
  m.stack.count_events(0b0001);
  jump_at(100);
  for (int i = 0; i < 3; ++i) m.stack.count_events(0b0001);
  m.stack.count_events(0b0010);
  m.record({.from = 0x2004, .to = 0x1004, .cycle = 117, .kind = BranchKind::near_return});
  EXPECT_EQ(info(), 0x1500000700000011u);
  EXPECT_EQ(field(info(1), 39, 32), 1u);
}

TEST_F(ArchLbr, EventCountsSaturateAtThree) {
  for (int i = 0; i < 9; ++i) m.stack.count_events(0b1001);
  jump_at(100);
  EXPECT_EQ(field(info(), 39, 32), 0b11000011u);
}

TEST(ArchLbrCapabilities, CountersThatCpuidOmitsAreNotLogged) {
  CpuModel model = lion_cove();
  model.lbr.cpuid_1c_ecx = 0x20007;  // counter 1 alone
  LbrMachine m(model);
  ASSERT_EQ(m.wrmsr(msr::ARCH_LBR_CTL, everything), Fault::none);
  m.stack.count_events(0b1111);
  m.branch(1, 2);
  EXPECT_EQ(field(m.read(msr::ARCH_LBR_INFO_0), 39, 32), 0b0100u);
}

TEST(ArchLbrCapabilities, FieldsThatCpuidDoesNotEnumerateStayZero) {
  CpuModel model = lion_cove();
  model.lbr.cpuid_1c_ecx = 0;
  model.rtm = model.hle = false;
  LbrMachine m(model);
  ASSERT_EQ(m.wrmsr(msr::ARCH_LBR_CTL, everything), Fault::none);
  m.branch(1, 2);
  m.record({.from = 1,
            .to = 2,
            .cycle = 2000,
            .kind = BranchKind::near_return,
            .tx = TxState::in_tx,
            .mispredicted = true});
  EXPECT_EQ(m.read(msr::ARCH_LBR_INFO_0), 0u);
}

struct TypeRow {
  u64 ctl;
  BranchKind kind;
  u64 br_type;
};
TEST_F(ArchLbr, EachTypeBitLetsInItsBranchesAndNamesThem) {
  using enum BranchKind;
  const TypeRow rows[] = {{COND, conditional, 0},
                          {NEAR_IND_JMP, indirect_jump, 1},
                          {NEAR_REL_JMP, direct_jump, 2},
                          {NEAR_IND_CALL, indirect_call, 3},
                          {NEAR_REL_CALL, direct_call, 4},
                          {NEAR_RET, near_return, 5},
                          {OTHER_BRANCH, far_jump, 8},
                          {OTHER_BRANCH, far_call, 8},
                          {OTHER_BRANCH, far_return, 8},
                          {OTHER_BRANCH, syscall, 8},
                          {OTHER_BRANCH, sysret, 8},
                          {OTHER_BRANCH, software_interrupt, 8},
                          {OTHER_BRANCH, interrupt_return, 8},
                          {OTHER_BRANCH, interrupt, 8},
                          {OTHER_BRANCH, tsx_abort, 8}};
  for (const TypeRow& row : rows) {
    control(LBREN | OS | USR | row.ctl);
    EXPECT_TRUE(m.branch(1, 2, row.kind)) << int(row.kind);
    EXPECT_EQ(field(info(), 59, 56), row.br_type) << int(row.kind);
    control(LBREN | OS | USR | (BRANCH_TYPES & ~row.ctl));
    EXPECT_FALSE(m.branch(1, 2, row.kind)) << int(row.kind);
  }
}

TEST_F(ArchLbr, AnEmptyFilterRecordsNothing) {
  control(LBREN | OS | USR);
  EXPECT_FALSE(m.branch(1, 2));
  control(LBREN | BRANCH_TYPES);
  EXPECT_FALSE(m.branch(1, 2));
}

TEST_F(ArchLbr, AUserOnlyFilterHidesTheSourceOfASysret) {
  control(LBREN | USR | BRANCH_TYPES);
  system_call();
  EXPECT_THAT(m.sources(), ElementsAre(0x1004, ~u64{0}));
  EXPECT_EQ(field(info(1), 59, 56), 8u);
}

TEST_F(ArchLbr, WithBothPrivilegesTheSourceIsRecorded) {
  system_call();
  EXPECT_THAT(m.sources(), ElementsAre(0x1004, kernel_ip + 0x40, 0x1000));
}

TEST_F(ArchLbr, WritingDepthClearsRecordsEvenIfItIsTheSame) {
  m.branch(1, 2);
  ASSERT_EQ(m.wrmsr(msr::ARCH_LBR_DEPTH, 32), Fault::none);
  EXPECT_THAT(m.sources(), IsEmpty());
  jump_at(5000);
  EXPECT_EQ(info() & (lbr_info::CYC_CNT | lbr_info::CYC_CNT_VALID), 0u);
}

TEST_F(ArchLbr, OnlyDepthsOfCpuidAreTaken) {
  for (u64 depth : {8, 16, 32}) EXPECT_EQ(m.wrmsr(msr::ARCH_LBR_DEPTH, depth), Fault::none);
  for (u64 depth : {0, 7, 24, 40, 64}) EXPECT_EQ(m.wrmsr(msr::ARCH_LBR_DEPTH, depth), Fault::gp) << depth;
  EXPECT_EQ(m.read(msr::ARCH_LBR_DEPTH), 32u);
}

TEST_F(ArchLbr, EntriesFromDepthOnFault) {
  ASSERT_EQ(m.wrmsr(msr::ARCH_LBR_DEPTH, 8), Fault::none);
  EXPECT_TRUE(m.rdmsr(msr::ARCH_LBR_INFO_0 + 7).ok());
  for (u32 base : {msr::ARCH_LBR_FROM_0, msr::ARCH_LBR_TO_0, msr::ARCH_LBR_INFO_0}) {
    EXPECT_FALSE(m.rdmsr(base + 8).ok());
    EXPECT_EQ(m.wrmsr(base + 8, 0), Fault::gp);
  }
}

TEST_F(ArchLbr, ASmallDepthKeepsThatMany) {
  ASSERT_EQ(m.wrmsr(msr::ARCH_LBR_DEPTH, 8), Fault::none);
  for (u64 b = 1; b <= 10; ++b) m.branch(b, 0x10);
  EXPECT_THAT(m.sources(), ElementsAre(10, 9, 8, 7, 6, 5, 4, 3));
}

TEST_F(ArchLbr, TogglingTheEnableKeepsRecords) {
  m.branch(1, 2);
  control(0);
  EXPECT_FALSE(m.branch(3, 4));
  control(everything);
  EXPECT_THAT(m.sources(), ElementsAre(1));
}

TEST_F(ArchLbr, TheFirstRecordAfterEnablingHasNoValidCycleCount) {
  jump_at(100);
  control(0);
  control(everything);
  jump_at(150);
  EXPECT_EQ(info() & lbr_info::CYC_CNT_VALID, 0u);
  jump_at(160);
  EXPECT_EQ(info() & (lbr_info::CYC_CNT | lbr_info::CYC_CNT_VALID), lbr_info::CYC_CNT_VALID | 10);
}

TEST_F(ArchLbr, DebugExceptionClearsTheEnableAlone) {
  m.branch(1, 2);
  m.stack.on_debug_exception();
  EXPECT_EQ(m.read(msr::ARCH_LBR_CTL), everything & ~LBREN);
  EXPECT_THAT(m.sources(), ElementsAre(1));
}

TEST_F(ArchLbr, WarmResetKeepsAllButTheEnable) {
  ASSERT_EQ(m.wrmsr(msr::ARCH_LBR_DEPTH, 8), Fault::none);
  m.branch(1, 2);
  m.stack = m.stack.after_warm_reset();
  EXPECT_EQ(m.read(msr::ARCH_LBR_CTL), everything & ~LBREN);
  EXPECT_EQ(m.read(msr::ARCH_LBR_DEPTH), 8u);
  EXPECT_THAT(m.sources(), ElementsAre(1));
}

TEST_F(ArchLbr, ADeepCStateClearsRecordsOnlyWhereCpuidSaysSo) {
  m.branch(1, 2);
  m.stack.lose_records_in_deep_sleep();
  EXPECT_THAT(m.sources(), IsEmpty());
  EXPECT_EQ(m.read(msr::ARCH_LBR_CTL), everything);
  CpuModel model = lion_cove();
  model.lbr.cpuid_1c_eax_flags = 0;
  LbrMachine keeps(model);
  ASSERT_EQ(keeps.wrmsr(msr::ARCH_LBR_CTL, everything), Fault::none);
  keeps.branch(1, 2);
  keeps.stack.lose_records_in_deep_sleep();
  EXPECT_THAT(keeps.sources(), ElementsAre(1));
}

TEST_F(ArchLbr, ControlBitsFaultWithoutTheirFeature) {
  EXPECT_EQ(m.wrmsr(msr::ARCH_LBR_CTL, 0x7F000F), Fault::none);
  for (unsigned n : {4u, 15u, 23u, 63u}) EXPECT_EQ(m.wrmsr(msr::ARCH_LBR_CTL, bit(n)), Fault::gp) << n;
  const std::pair<u32, u64> rows[] = {{lbr_leaf::EBX_CPL_FILTER, OS | USR},
                                      {lbr_leaf::EBX_BRANCH_FILTER, BRANCH_TYPES},
                                      {lbr_leaf::EBX_CALL_STACK, CALL_STACK}};
  for (const auto& [feature, needs] : rows) {
    CpuModel model = lion_cove();
    model.lbr.cpuid_1c_ebx &= ~feature;
    LbrMachine without(model);
    for (unsigned n : set_bits(needs)) EXPECT_EQ(without.wrmsr(msr::ARCH_LBR_CTL, bit(n)), Fault::gp) << n;
    EXPECT_EQ(without.wrmsr(msr::ARCH_LBR_CTL, 0x7F000F & ~needs), Fault::none);
  }
}

TEST(ArchLbrCapabilities, WithoutFiltersEverythingIsRecorded) {
  CpuModel model = lion_cove();
  model.lbr.cpuid_1c_ebx = 0;
  LbrMachine m(model);
  ASSERT_EQ(m.wrmsr(msr::ARCH_LBR_CTL, LBREN), Fault::none);
  EXPECT_TRUE(m.branch(1, 2));
  EXPECT_TRUE(m.record({.from = kernel_ip,
                        .to = 2,
                        .kind = BranchKind::sysret,
                        .cpl_before = Cpl::kernel,
                        .cpl_after = Cpl::user}));
  EXPECT_THAT(m.sources(), ElementsAre(kernel_ip, 1));
}

TEST_F(ArchLbr, UndefinedInfoBitsNeverFault) {
  EXPECT_EQ(m.wrmsr(msr::ARCH_LBR_INFO_0, ~u64{0}), Fault::none);
  EXPECT_EQ(info(), 0xFF0000FF0000FFFFu);
}

TEST_F(ArchLbr, CallStackModeShiftsDownOnReturn) {
  control(0x38000D);
  m.call(0xA), m.call(0xB);
  EXPECT_FALSE(m.ret());
  EXPECT_EQ(m.read(msr::ARCH_LBR_FROM_0), 0xAu);
  EXPECT_EQ(m.read(msr::ARCH_LBR_FROM_0 + 1), 0u);
  m.ret(), m.ret();
  EXPECT_THAT(m.sources(), IsEmpty());
}

TEST_F(ArchLbr, ACallThatFellOffTheEndDoesNotComeBack) {
  ASSERT_EQ(m.wrmsr(msr::ARCH_LBR_DEPTH, 8), Fault::none);
  control(0x38000D);
  for (u64 b = 1; b <= 10; ++b) m.call(b);
  for (int i = 0; i < 3; ++i) m.ret();
  EXPECT_THAT(m.sources(), ElementsAre(7, 6, 5, 4, 3));
}

TEST_F(ArchLbr, LerHasTheTypeAndFlagsOfTheBranchBeforeTheInterrupt) {
  m.record({.from = 0x1000, .to = 0x2000, .kind = BranchKind::near_return, .mispredicted = true});
  m.branch(0x2004, kernel_ip, BranchKind::interrupt);
  EXPECT_EQ(m.read(msr::LER_FROM_IP), 0x1000u);
  EXPECT_EQ(m.read(msr::LER_TO_IP), 0x2000u);
  EXPECT_EQ(m.read(msr::LER_INFO), lbr_info::MISPRED | 5ull << 56);
}

class Component15 : public ArchLbr {
 protected:
  std::vector<std::byte> save() const {
    std::vector<std::byte> image(lbr_component::bytes(32), std::byte{0xCC});
    m.stack.save_component(image);
    return image;
  }
  static u64 word(std::span<const std::byte> image, std::size_t offset) {
    u64 value = 0;
    for (unsigned i = 0; i < 8; ++i) value |= std::to_integer<u64>(image[offset + i]) << (8 * i);
    return value;
  }
};

TEST_F(Component15, Has808BytesControlsFirstAndTheNewestEntryAt40) {
  m.branch(0x1000, 0x2000), m.branch(0x3000, 0x4000);
  ASSERT_EQ(m.wrmsr(msr::LER_TO_IP, 0x5678), Fault::none);
  const auto image = save();
  EXPECT_EQ(image.size(), 808u);
  EXPECT_EQ(word(image, 0), everything);
  EXPECT_EQ(word(image, 8), 32u);
  EXPECT_EQ(word(image, 24), 0x5678u);
  EXPECT_EQ(word(image, 40), 0x3000u);
  EXPECT_EQ(word(image, 48), 0x4000u);
  EXPECT_EQ(word(image, 56), info());
  EXPECT_EQ(word(image, 64), 0x1000u);
}

TEST_F(Component15, RoundTripBringsBackControlLerAndRecords) {
  for (u64 b = 1; b <= 40; ++b) m.branch(b, 0x10);
  ASSERT_EQ(m.wrmsr(msr::LER_FROM_IP, 0x1234), Fault::none);
  const auto image = save();
  LbrMachine other(lion_cove());
  ASSERT_EQ(other.stack.restore_component(image), Fault::none);
  EXPECT_EQ(other.sources(), m.sources());
  EXPECT_EQ(other.read(msr::ARCH_LBR_CTL), everything);
  EXPECT_EQ(other.read(msr::LER_FROM_IP), 0x1234u);
  EXPECT_TRUE(other.branch(0x77, 0x10));
  EXPECT_EQ(other.read(msr::ARCH_LBR_FROM_0 + 1), 40u);
}

TEST_F(Component15, AnotherDepthRestoresNoRecordsAndLeavesDepthAlone) {
  m.branch(1, 2);
  const auto image = save();
  LbrMachine other(lion_cove());
  ASSERT_EQ(other.wrmsr(msr::ARCH_LBR_DEPTH, 16), Fault::none);
  ASSERT_EQ(other.wrmsr(msr::ARCH_LBR_CTL, everything), Fault::none);
  ASSERT_TRUE(other.branch(3, 4));
  ASSERT_EQ(other.stack.restore_component(image), Fault::none);
  EXPECT_THAT(other.sources(), IsEmpty()) << "neither those of the image nor those from before";
  EXPECT_EQ(other.read(msr::ARCH_LBR_DEPTH), 16u);
}

TEST_F(Component15, ReservedBitsOrABadDepthFaultAndChangeNothing) {
  m.branch(1, 2);
  auto image = save();
  image[0] |= std::byte{0x10};
  EXPECT_EQ(m.stack.restore_component(image), Fault::gp);
  image = save();
  image[8] = std::byte{24};
  EXPECT_EQ(m.stack.restore_component(image), Fault::gp);
  EXPECT_THAT(m.sources(), ElementsAre(1));
}

TEST_F(Component15, InitialisingClearsAllButDepth) {
  ASSERT_EQ(m.wrmsr(msr::ARCH_LBR_DEPTH, 8), Fault::none);
  m.branch(1, 2);
  EXPECT_TRUE(m.stack.component_in_use());
  m.stack.initialize_component();
  EXPECT_FALSE(m.stack.component_in_use());
  EXPECT_EQ(m.read(msr::ARCH_LBR_CTL), 0u);
  EXPECT_EQ(m.read(msr::ARCH_LBR_DEPTH), 8u);
}

// SDM vol. 4, IA32_LBR_x_INFO: counters in 39:32, two bits each, and nothing in 55:40.
TEST(ArchInfo, WhatIsNoFieldReadsAsZero) {
  LbrMachine m(lion_cove());
  ASSERT_EQ(m.wrmsr(msr::ARCH_LBR_INFO_0, bits(55, 32)), Fault::none);
  EXPECT_EQ(m.read(msr::ARCH_LBR_INFO_0), bits(39, 32));
}

}  // namespace
}  // namespace pmusim::test::arch_lbr_test
