// SPDX-License-Identifier: MIT
// The software branch filter (Linux: intel_pmu_lbr_filter, branch_type).
#include "driver/x86/branch_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver_fixture.h"
#include "fake_code.h"

namespace pmusim::driver::branch_filter_test {
namespace {

using namespace branch_class;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr u64 site = 0x401000, target = 0x402000, kernel = 0xFFFF'FFFF'8100'0000;
constexpr u64 any_user = ANY | USER;

perf::BranchEntry branch(u64 from, u64 to) {
  perf::BranchEntry b;
  b.from = from;
  b.to = to;
  return b;
}

class BranchFilterTest : public testing::Test {
 protected:
  /// Sources of what stays of `branches`.
  std::vector<u64> kept(std::vector<perf::BranchEntry> branches, u64 requested) {
    filter.apply(branches, requested, code);
    std::vector<u64> sources;
    for (const perf::BranchEntry& b : branches) sources.push_back(b.from);
    return sources;
  }
  unsigned type_of(perf::BranchEntry b) {
    std::vector<perf::BranchEntry> branches{b};
    filter.apply(branches, ALL | TYPE_SAVE, code);
    return branches.empty() ? 99 : branches[0].type;
  }
  FakeCode code;
  BranchFilter filter;
};

struct OpcodeRow {
  std::initializer_list<int> bytes;
  u64 only_class;  ///< 0: never kept
  unsigned perf_type;
};
TEST_F(BranchFilterTest, EachOpcodeIsOfTheClassThatPerfGivesIt) {
  const OpcodeRow rows[] = {
      {{0x74, 0x10}, JCC, 1},
      {{0x0F, 0x8F, 0, 1, 0, 0}, JCC, 1},
      {{0xE0, 0x10}, JCC, 1},  // LOOPNE
      {{0xE3, 0x10}, JCC, 1},  // JRCXZ
      {{0xEB, 0x10}, JMP, 2},
      {{0xE9, 0, 1, 0, 0}, JMP, 2},
      {{0xFF, 0xE0}, IND_JMP, 3},        // jmp *%rax
      {{0x3E, 0xFF, 0xE0}, IND_JMP, 3},  // notrack
      {{0xFF, 0x28}, IND_JMP, 3},        // far jmp
      {{0xE8, 0, 1, 0, 0}, CALL, 4},
      {{0xE8, 0, 0, 0, 0}, ZERO_CALL, 4},
      {{0xE8, 0}, ZERO_CALL, 4},  // immediate not readable
      {{0xFF, 0xD0}, IND_CALL, 5},
      {{0xFF, 0x18}, IND_CALL, 5},  // far call
      {{0xC3}, RET, 6},
      {{0xF3, 0xC3}, RET, 6},
      {{0xC2, 8, 0}, RET, 6},
      {{0xCB}, RET, 6},
      {{0x48, 0xCF}, IRET, 11},
      {{0xCC}, INT, 0},
      {{0xCD, 0x80}, INT, 0},
      {{0xF1}, 0, 99},
      {{0x0F, 0x05}, SYSCALL, 7},
      {{0x0F, 0x34}, SYSCALL, 7},
      {{0x0F, 0x07}, SYSRET, 8},
      {{0x0F, 0x35}, SYSRET, 8},
      {{0xC7, 0xF8, 0, 0, 0, 0}, 0, 99},  // XBEGIN
      {{0xC6, 0xF8, 0}, 0, 99},           // XABORT
      {{0x0F, 0x01, 0xD5}, 0, 99},        // XEND
      {{0x90}, 0, 99},
      {{0x48, 0x01, 0xD8}, 0, 99},
      {{0x06}, ABORT, 0},  // no instruction of 64-bit code
  };
  for (const OpcodeRow& row : rows) {
    filter.invalidate();
    code.put(site, row.bytes);
    const u64 first_byte = static_cast<u64>(*row.bytes.begin());
    EXPECT_EQ(type_of(branch(site, target)), row.perf_type) << std::hex << first_byte;
    for (const u64 requested : set_bits(ANY))
      EXPECT_EQ(kept({branch(site, target)}, bit(static_cast<unsigned>(requested)) | USER).size(),
                bit(static_cast<unsigned>(requested)) == row.only_class ? 1u : 0u)
          << std::hex << first_byte << " class bit " << requested;
  }
}

struct RequestRow {
  u64 request, classes;
};
TEST(BranchRequests, AskForTheClassesOfTheReferenceTable) {
  using namespace perf;
  const RequestRow rows[] = {
      {branch::USER, 1},           {branch::KERNEL, 2},          {branch::HV, 0},
      {branch::ANY, 0x29FFC},      {branch::ANY_CALL, 0x8C54},   {branch::ANY_RETURN, 0xA8},
      {branch::IND_CALL, 0x800},   {branch::ABORT_TX, 0x1000},   {branch::IN_TX, 0x2000},
      {branch::NO_TX, 0x4000},     {branch::COND, 0x100},        {branch::CALL_STACK, 0x1080C},
      {branch::IND_JUMP, 0x20000}, {branch::CALL, 0x8004},       {branch::NO_FLAGS, 0},
      {branch::NO_CYCLES, 0},      {branch::TYPE_SAVE, 0x40000}, {branch::HW_INDEX, 0},
      {branch::PRIV_SAVE, 0},      {branch::COUNTERS, 0}};
  for (const RequestRow& row : rows) EXPECT_EQ(requested_classes(row.request), row.classes) << row.request;
}

TEST_F(BranchFilterTest, KeepsOrderWhileItDrops) {
  code.put(1, {0xC3}), code.put(2, {0x74, 0}), code.put(3, {0xC3});
  EXPECT_THAT(kept({branch(1, target), branch(2, target), branch(3, target)}, RET | USER), ElementsAre(1, 3));
}

TEST_F(BranchFilterTest, CountsOfDroppedBranchesGoWithThem) {
  code.put(1, {0xC3}), code.put(2, {0x74, 0});
  std::vector<perf::BranchEntry> branches{branch(2, target), branch(1, target)};
  branches[1].reserved = 0x7;
  filter.apply(branches, RET | USER, code);
  ASSERT_EQ(branches.size(), 1u);
  EXPECT_EQ(branches[0].reserved, 0x7u);
}

TEST_F(BranchFilterTest, WithNothingToFilterEvenEmptyRecordsStay) {
  EXPECT_THAT(kept({branch(0, 0), branch(site, target)}, ALL), ElementsAre(0, site));
  EXPECT_THAT(kept({branch(0, 0), branch(site, target)}, ALL | TYPE_SAVE), IsEmpty());
}

TEST_F(BranchFilterTest, PrivilegeIsThatOfTheTarget) {
  code.put(site, {0x0F, 0x05});
  EXPECT_THAT(kept({branch(site, kernel)}, any_user), IsEmpty());
  EXPECT_THAT(kept({branch(site, kernel)}, ANY | KERNEL), ElementsAre(site));
}

TEST_F(BranchFilterTest, AUserOnlyRequestDropsKernelSources) {
  code.put(kernel, {0x48, 0x0F, 0x07});
  EXPECT_THAT(kept({branch(kernel, site)}, any_user), IsEmpty());
  EXPECT_THAT(kept({branch(~u64{0}, site)}, any_user), IsEmpty());
  EXPECT_THAT(kept({branch(kernel, site)}, ALL | TYPE_SAVE), ElementsAre(kernel));
}

TEST_F(BranchFilterTest, KernelEntryWithoutASystemCallIsAnInterrupt) {
  code.put(site, {0x90});
  EXPECT_EQ(type_of(branch(site, kernel)), 12u);
  code.put(site + 1, {0x74, 0x10});
  EXPECT_EQ(type_of(branch(site + 1, kernel)), 12u);
  code.put(site + 2, {0x0F, 0x05});
  EXPECT_EQ(type_of(branch(site + 2, kernel)), 7u);
}

TEST_F(BranchFilterTest, AnAbortNeedsNoCode) {
  perf::BranchEntry b = branch(site, target);
  b.abort = 1;
  EXPECT_THAT(kept({b}, ABORT | USER), ElementsAre(site));
  EXPECT_EQ(code.reads, 0u);
}

// Its page reads as code and is none: nothing in it can be decoded (Linux: is_vsyscall_vaddr).
TEST_F(BranchFilterTest, NoByteOfTheVsyscallPageIsRead) {
  constexpr u64 page = 0xFFFF'FFFF'FF60'0000;
  for (const u64 from : {page - 1, page, page + 4095, page + 4096}) {
    code.put(from, {0xC3});
    const bool inside = from == page || from == page + 4095;
    EXPECT_EQ(kept({branch(from, target)}, ALL | TYPE_SAVE).empty(), inside) << from;
  }
}

TEST_F(BranchFilterTest, UnreadableCodeIsDroppedAndTriedAgain) {
  EXPECT_THAT(kept({branch(site, target)}, any_user), IsEmpty());
  code.put(site, {0xC3});
  EXPECT_THAT(kept({branch(site, target)}, any_user), ElementsAre(site));
}

TEST_F(BranchFilterTest, SeparatesBranchesInsideAndOutsideOfTx) {
  code.put(1, {0xC3}), code.put(2, {0xC3});
  perf::BranchEntry inside = branch(1, target);
  inside.in_tx = 1;
  const std::vector<perf::BranchEntry> both{inside, branch(2, target)};
  EXPECT_THAT(kept(both, any_user | IN_TX), ElementsAre(1));
  EXPECT_THAT(kept(both, any_user | NO_TX), ElementsAre(2));
}

TEST_F(BranchFilterTest, InTxKeepsTheRestrictionToClasses) {
  code.put(1, {0xC3}), code.put(2, {0x74, 0});
  perf::BranchEntry returns = branch(1, target), jumps = branch(2, target);
  returns.in_tx = jumps.in_tx = 1;
  EXPECT_THAT(kept({returns, jumps}, RET | USER | IN_TX), ElementsAre(1));
}

TEST_F(BranchFilterTest, TypesAreSavedOnlyForWhoAsks) {
  code.put(site, {0xC3});
  std::vector<perf::BranchEntry> branches{branch(site, target)};
  filter.apply(branches, RET | USER, code);
  EXPECT_EQ(branches.at(0).type, perf::branch_type::UNKNOWN);
}

// The type is that of the lowest class bit, and NO_TX is lower than IND_JMP.
TEST_F(BranchFilterTest, WithNoTxAnIndirectJumpIsTypedNoTx) {
  code.put(site, {0xFF, 0xE0});
  std::vector<perf::BranchEntry> branches{branch(site, target)};
  filter.apply(branches, any_user | NO_TX | TYPE_SAVE, code);
  EXPECT_EQ(branches.at(0).type, 14u);
}

TEST_F(BranchFilterTest, TheHardwaresTypeSparesTheDecoding) {
  namespace type = perf::branch_type;
  for (const u8 known : {type::COND, type::UNCOND, type::IND, type::CALL, type::IND_CALL, type::RET}) {
    perf::BranchEntry b = branch(site, target);
    b.type = known & 0xF;
    EXPECT_EQ(type_of(b), known);
  }
  EXPECT_EQ(code.reads, 0u);
  code.put(site, {0x0F, 0x07});
  EXPECT_EQ(type_of(branch(site, target)), 8u);
  EXPECT_EQ(code.reads, 1u);
}

TEST_F(BranchFilterTest, HardwareTypedBranchesStayAroundUnreadable) {
  perf::BranchEntry first = branch(1, target), last = branch(3, target);
  first.type = last.type = perf::branch_type::COND & 0xF;
  EXPECT_THAT(kept({first, branch(2, target), last}, ALL | TYPE_SAVE), ElementsAre(1, 3));
  EXPECT_THAT(kept({first, last}, ALL | IN_TX | TYPE_SAVE), IsEmpty());
}

TEST_F(BranchFilterTest, CodeIsReadOncePerAddressSpace) {
  code.put(site, {0xC3});
  for (int i = 0; i < 3; ++i) kept({branch(site, target)}, any_user);
  EXPECT_EQ(code.reads, 1u);
  filter.set_address_space(7);
  code.put(site, {0x74, 0x10});
  EXPECT_THAT(kept({branch(site, target)}, JCC | USER), ElementsAre(site));
  EXPECT_EQ(code.reads, 2u);
}

TEST_F(BranchFilterTest, ForgetsCodeWhenMappingsChange) {
  code.put(site, {0xC3});
  kept({branch(site, target)}, any_user);
  code.put(site, {0x74, 0x10});
  filter.invalidate();
  EXPECT_THAT(kept({branch(site, target)}, JCC | USER), ElementsAre(site));
}

TEST_F(BranchFilterTest, AddressesThatShareACacheEntryStayApart) {
  BranchFilter tiny(1);
  code.put(1, {0xC3}), code.put(2, {0x74, 0});
  for (int i = 0; i < 2; ++i) {
    std::vector<perf::BranchEntry> branches{branch(1, target), branch(2, target)};
    tiny.apply(branches, RET | USER, code);
    ASSERT_EQ(branches.size(), 1u);
    EXPECT_EQ(branches[0].from, 1u);
  }
}

TEST_F(BranchFilterTest, KernelExitsStayOnlyWhereTheFilterKeepsThem) {
  code.put(kernel, {0x0F, 0x07});  // sysret
  EXPECT_THAT(kept({branch(kernel, target)}, any_user), IsEmpty());
  EXPECT_THAT(kept({branch(kernel, target)}, any_user | SYSRET | KERNEL_SOURCE), ElementsAre(kernel));
}

/// Whether the filter of user branches lets those stay that leave the kernel.
bool keeps_returns_to_user(perf::Kernel kernel_version) {
  Rig rig(haswell(), {.kernel = kernel_version});
  perf::Attr attr = Rig::raw(0xC4, 1000);
  attr.sample_type = perf::sample::BRANCH_STACK;
  attr.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  return (data_of(rig.opened(attr)).branch_software_filter & KERNEL_SOURCE) != 0;
}

TEST(LinuxDrivers, DropKernelExitBranchesIn6_12AndSince7_1) {
  EXPECT_FALSE(keeps_returns_to_user(perf::Kernel::v6_12));
  for (const perf::Kernel older : {perf::Kernel::v6_14, perf::Kernel::v6_19, perf::Kernel::v7_0})
    EXPECT_TRUE(keeps_returns_to_user(older));
  EXPECT_FALSE(keeps_returns_to_user(perf::Kernel::v7_1));
}

}  // namespace
}  // namespace pmusim::driver::branch_filter_test
