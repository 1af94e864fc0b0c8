// SPDX-License-Identifier: MIT
// What is recorded and where: SDM vol. 3, LBR stack, filtering, call stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lbr/lbr_machine.h"

namespace pmusim::test::recording_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr u32 FROM = msr::LBR_NHM_FROM_IP;
constexpr u64 kernel_ip = 0xFFFFFFFF81000000;

Branch syscall_at(u64 from) {
  return {.from = from,
          .to = kernel_ip,
          .kind = BranchKind::syscall,
          .cpl_before = Cpl::user,
          .cpl_after = Cpl::kernel};
}
Branch sysret_to(u64 to) {
  return {.from = kernel_ip + 0x40,
          .to = to,
          .kind = BranchKind::sysret,
          .cpl_before = Cpl::kernel,
          .cpl_after = Cpl::user};
}
Branch interrupt_at(u64 from) {
  return {.from = from,
          .to = kernel_ip,
          .kind = BranchKind::interrupt,
          .cpl_before = Cpl::user,
          .cpl_after = Cpl::kernel};
}

TEST(Ring, TosMovesFirstSoSlotZeroFillsLast) {
  LbrMachine m(four_slots());
  m.branch(1, 0x10);
  EXPECT_EQ(m.read(msr::LBR_TOS), 1u);
  EXPECT_EQ(m.read(FROM + 1), 1u);
  EXPECT_EQ(m.read(FROM + 0), 0u);
}

TEST(Ring, TheFifthOfFourOverwritesTheOldest) {
  LbrMachine m(four_slots());
  for (u64 b = 1; b <= 5; ++b) m.branch(b, 0x10);
  EXPECT_EQ(m.read(msr::LBR_TOS), 1u);
  EXPECT_THAT((std::vector{m.read(FROM), m.read(FROM + 1), m.read(FROM + 2), m.read(FROM + 3)}),
              ElementsAre(4, 5, 2, 3));
  EXPECT_THAT(m.sources(), ElementsAre(5, 4, 3, 2));
}

TEST(Ring, RecordingGoesOnFromAWrittenTos) {
  LbrMachine m(four_slots());
  ASSERT_EQ(m.wrmsr(msr::LBR_TOS, 2), Fault::none);
  m.branch(1, 0x10);
  EXPECT_EQ(m.read(FROM + 3), 1u);
}

TEST(Ring, RenderingWritesAsManyEntriesAsThereIsRoomFor) {
  LbrMachine m(four_slots());
  m.branch(1, 0x10);
  m.branch(2, 0x10);
  std::array<LbrEntry, 1> one{};
  EXPECT_EQ(m.stack.render(one), 1u);
  EXPECT_EQ(one[0].from, 2u);
}

TEST(Gate, AClosedGateRecordsNothing) {
  LbrMachine m(four_slots());
  m.gate = LbrGate::closed;
  EXPECT_FALSE(m.branch(1, 2));
  EXPECT_THAT(m.sources(), IsEmpty());
}

TEST(Gate, LegacyPartsNeedDebugctlAndNobodyRecordsWhileFrozen) {
  const CpuModel legacy = skylake(), arch = lion_cove();
  EXPECT_EQ(lbr_gate(legacy, 0, 0), LbrGate::closed);
  EXPECT_EQ(lbr_gate(legacy, msr::debugctl::LBR, 0), LbrGate::open);
  EXPECT_EQ(lbr_gate(legacy, msr::debugctl::LBR, msr::status::LBR_FRZ), LbrGate::closed);
  EXPECT_EQ(lbr_gate(arch, 0, 0), LbrGate::open);
  EXPECT_EQ(lbr_gate(arch, 0, msr::status::LBR_FRZ), LbrGate::closed);
}

TEST(Gate, CyclesAfterAFreezeRunFromTheLastRecordBeforeIt) {
  LbrMachine m(skylake());
  m.record({.from = 1, .to = 2, .cycle = 100, .kind = BranchKind::direct_jump});
  m.gate = LbrGate::closed;
  m.record({.from = 1, .to = 2, .cycle = 110, .kind = BranchKind::direct_jump});
  m.gate = LbrGate::open;
  m.record({.from = 1, .to = 2, .cycle = 125, .kind = BranchKind::direct_jump});
  EXPECT_EQ(m.read(msr::LBR_INFO_0 + 2), 25u);
}

struct SelectRow {
  u64 bit;
  std::vector<BranchKind> dropped, dropped_by_nehalem;
};
const std::vector<BranchKind> every_kind = {
    BranchKind::conditional,      BranchKind::direct_jump,   BranchKind::indirect_jump,
    BranchKind::direct_call,      BranchKind::indirect_call, BranchKind::near_return,
    BranchKind::far_jump,         BranchKind::far_call,      BranchKind::far_return,
    BranchKind::syscall,          BranchKind::sysret,        BranchKind::software_interrupt,
    BranchKind::interrupt_return, BranchKind::interrupt,     BranchKind::tsx_abort};
const std::vector<BranchKind> far_kinds(every_kind.begin() + 6, every_kind.end());

TEST(LbrSelect, EachTypeBitKeepsOutItsBranches) {
  using enum BranchKind;
  const SelectRow rows[] = {
      {lbr_select::JCC, {conditional}, {conditional}},
      {lbr_select::NEAR_REL_CALL, {direct_call}, {direct_call}},
      {lbr_select::NEAR_IND_CALL, {indirect_call}, {indirect_call}},
      {lbr_select::NEAR_RET, {near_return}, {near_return}},
      {lbr_select::NEAR_IND_JMP, {indirect_jump}, {indirect_jump, indirect_call, near_return}},
      {lbr_select::NEAR_REL_JMP, {direct_jump}, {direct_jump, direct_call}},
      {lbr_select::FAR_BRANCH, far_kinds, far_kinds},
  };
  for (const SelectRow& row : rows) {
    LbrMachine modern(sandy_bridge()), old(nehalem());
    ASSERT_EQ(modern.wrmsr(msr::LBR_SELECT, row.bit), Fault::none);
    ASSERT_EQ(old.wrmsr(msr::LBR_SELECT, row.bit), Fault::none);
    for (BranchKind kind : every_kind) {
      EXPECT_NE(modern.branch(1, 2, kind), std::ranges::count(row.dropped, kind) != 0)
          << row.bit << " kind " << int(kind);
      EXPECT_NE(old.branch(1, 2, kind), std::ranges::count(row.dropped_by_nehalem, kind) != 0)
          << row.bit << " kind " << int(kind);
    }
  }
}

TEST(LbrSelect, WhatIsNoBranchIsNotRecorded) {
  LbrMachine legacy(skylake()), architectural(lion_cove());
  ASSERT_EQ(architectural.wrmsr(msr::ARCH_LBR_CTL,
                                lbr_ctl::LBREN | lbr_ctl::OS | lbr_ctl::USR | lbr_ctl::OTHER_BRANCH),
            Fault::none);
  for (LbrMachine* m : {&legacy, &architectural}) {
    EXPECT_FALSE(m->branch(1, 2, BranchKind::none));
    EXPECT_TRUE(m->branch(1, 2, BranchKind::far_jump));
  }
}

TEST(LbrSelect, PrivilegeBitsLookAtWhereTheBranchEnds) {
  LbrMachine user_only(skylake()), kernel_only(skylake());
  ASSERT_EQ(user_only.wrmsr(msr::LBR_SELECT, lbr_select::CPL_EQ_0), Fault::none);
  ASSERT_EQ(kernel_only.wrmsr(msr::LBR_SELECT, lbr_select::CPL_NEQ_0), Fault::none);
  for (LbrMachine* m : {&user_only, &kernel_only}) {
    m->record(syscall_at(0x1000));
    m->record(sysret_to(0x1002));
    m->branch(0x1004, 0x2000);
  }
  EXPECT_THAT(user_only.sources(), ElementsAre(0x1004, kernel_ip + 0x40));  // the source is told
  EXPECT_THAT(kernel_only.sources(), ElementsAre(0x1000));
}

TEST(LbrSelect, ReservedBitsFaultAndCallStackNeedsTheFeature) {
  LbrMachine old(sandy_bridge()), modern(haswell());
  EXPECT_EQ(old.wrmsr(msr::LBR_SELECT, 0x1FF), Fault::none);
  EXPECT_EQ(old.wrmsr(msr::LBR_SELECT, lbr_select::EN_CALLSTACK), Fault::gp);
  EXPECT_EQ(modern.wrmsr(msr::LBR_SELECT, 0x3FF), Fault::none);
  EXPECT_EQ(modern.wrmsr(msr::LBR_SELECT, bit(10)), Fault::gp);
}

TEST(ZeroLengthCalls, AreCallsOfTheNextInstruction) {
  Retirement r;
  r.ip = 0x1000;
  r.length = 5;
  r.branch = BranchKind::direct_call;
  r.taken = true;
  r.next_ip = 0x1005;
  EXPECT_TRUE(Branch::of(r).zero_length_call);
  r.next_ip = 0x1006;
  EXPECT_FALSE(Branch::of(r).zero_length_call);
}

class CallStack : public testing::Test {
 protected:
  explicit CallStack(CpuModel model = four_slots()) : m(std::move(model)) {
    EXPECT_EQ(m.wrmsr(msr::LBR_SELECT, 0x3C5), Fault::none);
  }
  LbrMachine m;
};

TEST_F(CallStack, ReturnsRemoveTheNewestCall) {
  m.call(0xA), m.call(0xB);
  EXPECT_EQ(m.read(msr::LBR_TOS), 2u);
  m.call(0xC);
  EXPECT_EQ(m.read(msr::LBR_TOS), 3u);
  EXPECT_FALSE(m.ret());
  EXPECT_EQ(m.read(msr::LBR_TOS), 2u);
  m.call(0xD);
  EXPECT_THAT(m.sources(), ElementsAre(0xD, 0xB, 0xA));
}

TEST_F(CallStack, OverflowLosesTheOldestFrames) {
  for (u64 f = 0xA; f <= 0xF; ++f) m.call(f);
  for (int i = 0; i < 3; ++i) m.ret();
  EXPECT_THAT(m.sources(), ElementsAre(0xC));
}

TEST_F(CallStack, IndirectCallsPushAndZeroLengthCallsDoNot) {
  m.branch(0xA, 0xB, BranchKind::indirect_call);
  m.record({.from = 0x1000, .to = 0x1005, .kind = BranchKind::direct_call, .zero_length_call = true});
  EXPECT_THAT(m.sources(), ElementsAre(0xA));
}

TEST_F(CallStack, OtherBranchesAreFilteredOut) {
  m.call(0xA);
  for (BranchKind kind : {BranchKind::conditional, BranchKind::direct_jump, BranchKind::far_call})
    EXPECT_FALSE(m.branch(1, 2, kind));
  EXPECT_THAT(m.sources(), ElementsAre(0xA));
}

TEST_F(CallStack, UnderflowLeavesTosAlone) {
  m.ret();
  EXPECT_EQ(m.read(msr::LBR_TOS), 0u);
}

TEST_F(CallStack, CallsAndReturnsOfTheKernelAreLeftOut) {
  m.call(0xA);
  m.record({.from = kernel_ip,
            .to = kernel_ip + 9,
            .kind = BranchKind::near_return,
            .cpl_before = Cpl::kernel,
            .cpl_after = Cpl::kernel});
  EXPECT_THAT(m.sources(), ElementsAre(0xA));
}

TEST(Ler, KeepsTheLastBranchBeforeAnInterrupt) {
  LbrMachine m(skylake());
  m.branch(0x1000, 0x2000);
  m.record(interrupt_at(0x2004));
  EXPECT_EQ(m.read(msr::LER_FROM_IP), 0x1000u);
  EXPECT_EQ(m.read(msr::LER_TO_IP), 0x2000u);
  EXPECT_THAT(m.sources(), ElementsAre(0x2004, 0x1000));
}

TEST(Ler, IsFrozenWithTheRest) {
  LbrMachine m(skylake());
  m.branch(0x1000, 0x2000);
  m.gate = LbrGate::closed;
  m.record(interrupt_at(0x2004));
  EXPECT_EQ(m.read(msr::LER_FROM_IP), 0u);
}

TEST(Reset, ADeepCStateClearsRecordsOfSkylakeButNotOfHaswell) {
  LbrMachine new_part(skylake()), old_part(haswell());
  for (LbrMachine* m : {&new_part, &old_part}) {
    m->branch(1, 2);
    m->stack.lose_records_in_deep_sleep();
  }
  EXPECT_THAT(new_part.sources(), IsEmpty());
  EXPECT_EQ(new_part.read(msr::LBR_TOS), 0u);
  EXPECT_THAT(old_part.sources(), ElementsAre(1));
}

TEST(Reset, TheFirstRecordAfterADeepCStateHasNoCycles) {
  LbrMachine m(skylake());
  m.branch(1, 2);
  m.stack.lose_records_in_deep_sleep();
  m.record({.from = 3, .to = 4, .cycle = 5000, .kind = BranchKind::direct_jump});
  EXPECT_EQ(m.read(msr::LBR_INFO_0 + 1), 0u);
}

TEST(DebugException, ClearsTheEnablesOfDebugctlAndKeepsRecords) {
  using namespace msr::debugctl;
  EXPECT_EQ(debugctl_after_debug_exception(LBR | BTF | FREEZE_LBRS_ON_PMI), FREEZE_LBRS_ON_PMI);
  LbrMachine m(skylake());
  m.branch(1, 2);
  m.stack.on_debug_exception();
  EXPECT_THAT(m.sources(), ElementsAre(1));
}

TEST(BranchTraceStore, NeedsTrBtsAndAnEnabledPrivilege) {
  using namespace msr::debugctl;
  EXPECT_FALSE(bts_record_due(TR, Cpl::user));
  EXPECT_FALSE(bts_record_due(BTS, Cpl::user));
  EXPECT_TRUE(bts_record_due(TR | BTS, Cpl::user));
  EXPECT_TRUE(bts_record_due(TR | BTS | BTS_OFF_OS, Cpl::user));
  EXPECT_FALSE(bts_record_due(TR | BTS | BTS_OFF_OS, Cpl::kernel));
  EXPECT_FALSE(bts_record_due(TR | BTS | BTS_OFF_USR, Cpl::user));
}

}  // namespace
}  // namespace pmusim::test::recording_test
