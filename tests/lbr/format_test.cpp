// SPDX-License-Identifier: MIT
// Record formats: SDM vol. 3, LBR stack and IA32_PERF_CAPABILITIES[5:0].
#include <gtest/gtest.h>

#include "tests/lbr/lbr_machine.h"

namespace pmusim::test {
namespace {

constexpr u64 user = 0x00007FFFF7A01234, kernel = 0xFFFFFFFF81000010;
constexpr u32 FROM1 = msr::LBR_NHM_FROM_IP + 1, TO1 = msr::LBR_NHM_TO_IP + 1, INFO1 = msr::LBR_INFO_0 + 1;

Branch jump(u64 from, u64 to) { return {.from = from, .to = to, .kind = BranchKind::direct_jump}; }
Branch mispredicted(Branch b) {
  b.mispredicted = true;
  return b;
}
Branch in_transaction(Branch b) {
  b.tx = TxState::in_tx;
  return b;
}
Branch at(u64 cycle, Branch b) {
  b.cycle = cycle;
  return b;
}

TEST(Format0, PacksTwo32BitAddressesInOneRegister) {
  LbrMachine m(legacy_model(LbrFormat::addresses_32, 8, msr::LBR_CORE_FROM_IP));
  m.branch(0x08048123, 0x08049000);
  EXPECT_EQ(m.read(msr::LBR_CORE_FROM_IP + 1), 0x08049000'08048123u);
  EXPECT_FALSE(m.rdmsr(msr::LBR_CORE_TO_IP + 1).ok());
}

TEST(Format2, HoldsPlainAddresses) {
  LbrMachine m(legacy_model(LbrFormat::eip, 4, msr::LBR_CORE_FROM_IP));
  m.record(mispredicted(jump(kernel, user)));
  EXPECT_EQ(m.read(msr::LBR_CORE_FROM_IP + 1), kernel);
  EXPECT_EQ(m.read(msr::LBR_CORE_TO_IP + 1), user);
}

TEST(Format3, CarriesTheMispredictFlagInBit63OfFrom) {
  LbrMachine m(nehalem());
  m.record(mispredicted(jump(user, kernel)));
  EXPECT_EQ(m.read(FROM1), 0x80007FFFF7A01234u);
  EXPECT_EQ(m.read(TO1), kernel);
  EXPECT_FALSE(m.rdmsr(INFO1).ok());
}

TEST(Format3, APredictedKernelSourceHasBit63Clear) {
  LbrMachine m(nehalem());
  m.record(jump(kernel, user));
  EXPECT_EQ(m.read(FROM1), 0x7FFFFFFF81000010u);
}

TEST(Format4, CarriesThreeFlagsInFrom) {
  LbrMachine m(haswell());
  m.record(in_transaction(mispredicted(jump(kernel, user))));
  EXPECT_EQ(m.read(FROM1), 0xDFFFFFFF81000010u);
}

TEST(Format4, MarksAnAbortInBit61) {
  LbrMachine m(haswell());
  m.record({.from = 0x1000, .to = 0x2000, .kind = BranchKind::tsx_abort, .tx = TxState::aborting});
  EXPECT_EQ(m.read(FROM1), 0x2000000000001000u);
}

TEST(Format4, WithoutTsxAKernelSourceCannotBeWrittenBackAsRead) {
  LbrMachine m(haswell(Tsx::absent));
  m.record(jump(kernel, user));
  EXPECT_EQ(m.read(FROM1), 0x1FFFFFFF81000010u);
  EXPECT_EQ(m.wrmsr(FROM1, 0x1FFFFFFF81000010), Fault::gp);
  EXPECT_EQ(m.wrmsr(FROM1, 0x7FFFFFFF81000010), Fault::none);
  EXPECT_EQ(m.read(FROM1), 0x7FFFFFFF81000010u);
}

TEST(Format4, WithTsxTheUpperThreeBitsOfAWriteAreFree) {
  LbrMachine m(haswell());
  EXPECT_EQ(m.wrmsr(FROM1, 0x1FFFFFFF81000010), Fault::none);
  EXPECT_EQ(m.wrmsr(FROM1, 0x6000'7FFF'0000'0000), Fault::none);
  EXPECT_EQ(m.read(FROM1), 0x6000'7FFF'0000'0000u);
}

TEST(Format4, HaswellLeavesASecondUnflaggedRecordOfAnAbort) {
  CpuModel model = haswell();
  model.lbr.double_abort = true;
  LbrMachine m(model);
  m.record({.from = 0x1000, .to = 0x2000, .kind = BranchKind::tsx_abort, .tx = TxState::aborting});
  EXPECT_EQ(m.read(FROM1), 0x2000000000001000u);
  EXPECT_EQ(m.read(FROM1 + 1), 0x1000u);
  EXPECT_EQ(m.read(msr::LBR_TOS), 2u);
}

TEST(Format5, PutsFlagsAndCyclesInInfo) {
  LbrMachine m(skylake());
  m.record(at(100, jump(0x1000, 0x2000)));
  m.record(at(132, mispredicted(jump(kernel, user))));
  EXPECT_EQ(m.read(FROM1 + 1), kernel);
  EXPECT_EQ(m.read(TO1 + 1), user);
  EXPECT_EQ(m.read(INFO1 + 1), 0x8000000000000020u);
  EXPECT_EQ(m.read(INFO1), 0u);  // nothing to count from
}

TEST(Format5, MarksTransactionsInInfo) {
  LbrMachine m(skylake());
  m.record(in_transaction(jump(0x1000, 0x2000)));
  m.record({.from = 0x1000, .to = 0x2000, .kind = BranchKind::tsx_abort, .tx = TxState::aborting});
  EXPECT_EQ(m.read(INFO1) >> 61, 0b010u);
  EXPECT_EQ(m.read(INFO1 + 1) >> 61, 0b001u);
}

TEST(Format6, PutsCyclesAboveTheTargetAndTheFlagInFrom) {
  LbrMachine m(goldmont());
  m.record(at(100, jump(0x1000, 0x2000)));
  m.record(at(400, mispredicted(jump(user, 0x7F0000001000))));
  m.record(at(405, jump(user, 0xFFFFFFFF81000000)));
  EXPECT_EQ(m.read(FROM1 + 1), 0x80007FFFF7A01234u);
  EXPECT_EQ(m.read(TO1 + 1), 0x012C7F0000001000u);
  EXPECT_EQ(m.read(TO1 + 2), 0x0005FFFF81000000u);
}

TEST(Format6, TakesAnyTargetOnWrite) {
  LbrMachine m(goldmont());
  EXPECT_EQ(m.wrmsr(TO1, 0x1234FFFF81000000), Fault::none);
  EXPECT_EQ(m.read(TO1), 0x1234FFFF81000000u);
}

TEST(Format7, HasNoTransactionBits) {
  CpuModel model = goldmont_plus();
  model.rtm = true;
  LbrMachine m(model);
  m.record(in_transaction(mispredicted(jump(0x1000, 0x2000))));
  EXPECT_EQ(m.read(INFO1), 0x8000000000000000u);
  EXPECT_EQ(m.wrmsr(INFO1, bit(62)), Fault::gp);
}

TEST(CycleCount, SaturatesAt16Bits) {
  LbrMachine m(skylake());
  m.record(at(100, jump(0x1000, 0x2000)));
  m.record(at(100 + 0x10000, jump(0x1000, 0x2000)));
  m.record(at(100 + 0x10000 + 0xFFFF, jump(0x1000, 0x2000)));
  EXPECT_EQ(m.read(INFO1 + 1), 0xFFFFu);
  EXPECT_EQ(m.read(INFO1 + 2), 0xFFFFu);
}

TEST(CycleCount, RunsFromThePreviousAcceptedRecord) {
  LbrMachine m(skylake());
  ASSERT_EQ(m.wrmsr(msr::LBR_SELECT, lbr_select::JCC), Fault::none);
  m.record(at(100, jump(0x1000, 0x2000)));
  m.record({.from = 1, .to = 2, .cycle = 150, .kind = BranchKind::conditional});
  m.record(at(170, jump(0x1000, 0x2000)));
  EXPECT_EQ(m.read(INFO1 + 1), 70u);
}

struct CanonicalRow {
  const char* name;
  CpuModel model;
  u64 highest_checked;  ///< of FROM
};
TEST(CanonicalWrites, EachFormatChecksTheBitsThatStandForTheSign) {
  const CanonicalRow rows[] = {
      {"3", nehalem(), 62}, {"4 with TSX", haswell(), 60}, {"4 without", haswell(Tsx::absent), 62},
      {"5", skylake(), 63}, {"6", goldmont(), 62},         {"7", goldmont_plus(), 63}};
  for (const CanonicalRow& row : rows) {
    LbrMachine m(row.model);
    for (unsigned n = 48; n < 64; ++n)
      EXPECT_EQ(m.wrmsr(FROM1, bit(n)), n <= row.highest_checked ? Fault::gp : Fault::none)
          << "format " << row.name << " bit " << n;
    EXPECT_EQ(m.wrmsr(FROM1, bits(46, 0)), Fault::none) << row.name;
    EXPECT_EQ(m.wrmsr(FROM1, bits(63, 47)), Fault::none) << row.name;
    EXPECT_EQ(m.wrmsr(TO1, bit(48)), row.model.lbr.format == LbrFormat::time ? Fault::none : Fault::gp);
  }
}

TEST(CanonicalWrites, AFaultingWriteChangesNothing) {
  LbrMachine m(nehalem());
  ASSERT_EQ(m.wrmsr(FROM1, 0x1234), Fault::none);
  EXPECT_EQ(m.wrmsr(FROM1, bit(50)), Fault::gp);
  EXPECT_EQ(m.read(FROM1), 0x1234u);
}

// What a guest test's probe finds.
TEST(Probe, WritingEntriesUntilTheFirstFaultFindsTheDepth) {
  const std::pair<CpuModel, unsigned> rows[] = {
      {nehalem(), 16}, {haswell(), 16}, {skylake(), 32}, {goldmont(), 32}};
  for (const auto& [model, depth] : rows) {
    LbrMachine m(model);
    EXPECT_EQ(m.wrmsr(msr::LBR_CORE_FROM_IP, 0), Fault::gp);
    EXPECT_EQ(m.wrmsr(msr::LBR_SELECT, 0), Fault::none);
    EXPECT_EQ(m.wrmsr(msr::LBR_TOS, 0), Fault::none);
    for (unsigned i = 0; i < depth; ++i) {
      EXPECT_EQ(m.wrmsr(msr::LBR_NHM_FROM_IP + i, 0), Fault::none);
      EXPECT_EQ(m.wrmsr(msr::LBR_NHM_TO_IP + i, 0), Fault::none);
    }
    EXPECT_EQ(m.wrmsr(msr::LBR_NHM_FROM_IP + depth, 0), Fault::gp);
    for (unsigned i = 0; i < 3 * depth; ++i) m.branch(0x1000, 0x2000);
    for (unsigned i = 0; i < depth; ++i) EXPECT_NE(m.read(msr::LBR_NHM_TO_IP + i), 0u);
  }
}

// A driver under a hypervisor toggles low bits and expects to read them back.
TEST(Probe, EveryEntryKeepsItsToggledLowBits) {
  LbrMachine m(haswell(Tsx::absent));
  for (unsigned i = 0; i < 16; ++i) {
    for (u32 address : {msr::LBR_NHM_FROM_IP + i, msr::LBR_NHM_TO_IP + i}) {
      const u64 toggled = m.read(address) ^ 0xFFFF;
      EXPECT_EQ(m.wrmsr(address, toggled), Fault::none);
      EXPECT_EQ(m.read(address), toggled);
    }
  }
  EXPECT_EQ(m.wrmsr(msr::LBR_TOS, 3), Fault::none);
  EXPECT_EQ(m.read(msr::LBR_TOS), 3u);
}

TEST(Probe, AnArchitecturalPartHasNoneOfTheOldRegisters) {
  LbrMachine m(lion_cove());
  for (u32 address :
       {msr::LBR_SELECT, msr::LBR_TOS, msr::LBR_NHM_FROM_IP, msr::LBR_NHM_TO_IP, msr::LBR_INFO_0})
    EXPECT_EQ(m.wrmsr(address, 0), Fault::gp) << address;
  LbrMachine old(skylake());
  for (u32 address : {msr::ARCH_LBR_CTL, msr::ARCH_LBR_DEPTH, msr::ARCH_LBR_FROM_0, msr::LER_INFO})
    EXPECT_FALSE(old.rdmsr(address).ok()) << address;
}

// SDM vol. 3, format 0 of IA32_PERF_CAPABILITIES[5:0]: 32-bit addresses, the source below the target in one
// register.
TEST(Format0, HasBothAddressesOfABranchInOneRegister) {
  LbrMachine m(legacy_model(LbrFormat::addresses_32, 4, 0x40));
  ASSERT_TRUE(m.branch(0x8000'0001, 0x9000'0003));
  const u64 tos = m.read(msr::LBR_TOS);
  EXPECT_EQ(m.read(0x40 + static_cast<u32>(tos)), 0x9000'0003'8000'0001u);
  ASSERT_EQ(m.wrmsr(0x40, 0x1234'5679'8765'4321), Fault::none);
  EXPECT_EQ(m.read(0x40), 0x1234'5679'8765'4321u);
}

}  // namespace
}  // namespace pmusim::test
