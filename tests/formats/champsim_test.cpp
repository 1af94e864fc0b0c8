// SPDX-License-Identifier: MIT
#include "formats/champsim.h"

#include <gtest/gtest.h>

namespace pmusim::formats {
namespace {

constexpr u8 sp = 6, ax = 10, cx = 9, flags = 25, ip = 26;

struct Registers {
  std::array<u8, 2> written;
  std::array<u8, 4> read;
};

BranchKind kind_of(const Registers& registers, ChampSimBranches branches = ChampSimBranches::since_2023) {
  ChampSimRecord record{};
  record.written = registers.written;
  record.read = registers.read;
  return branch_kind(ChampSimFields(record), branches);
}

// The registers that the tracer of the format writes for each kind.
TEST(ChampSim, ClassifiesBranchesByTheirRegisters) {
  EXPECT_EQ(kind_of({{ax}, {cx}}), BranchKind::none);
  EXPECT_EQ(kind_of({{ip}, {ip}}), BranchKind::direct_jump);
  EXPECT_EQ(kind_of({{ip}, {}}), BranchKind::direct_jump);
  EXPECT_EQ(kind_of({{ip}, {ax}}), BranchKind::indirect_jump);
  EXPECT_EQ(kind_of({{ip}, {ip, flags}}), BranchKind::conditional);
  EXPECT_EQ(kind_of({{sp, ip}, {ip, sp}}), BranchKind::direct_call);
  EXPECT_EQ(kind_of({{sp, ip}, {ip, sp, ax}}), BranchKind::indirect_call);
  EXPECT_EQ(kind_of({{sp, ip}, {sp}}), BranchKind::near_return);
  EXPECT_EQ(kind_of({{ip}, {sp}}), BranchKind::indirect_jump) << "what ChampSim calls other";
}

TEST(ChampSim, DistinguishesRegisterBranchesSince2023) {
  const Registers loop{{ip}, {ip, cx}};
  EXPECT_EQ(kind_of(loop), BranchKind::conditional);
  EXPECT_EQ(kind_of(loop, ChampSimBranches::before_2023), BranchKind::indirect_jump);
}

TEST(ChampSim, RecordsThatWeWriteReadAsTheKindThatTheyWere) {
  const auto record_of = [](std::initializer_list<int> bytes) {
    std::vector<std::byte> code;
    for (const int byte : bytes) code.push_back(static_cast<std::byte>(byte));
    const x86::Instruction i = x86::decode(code, 0x401000);
    EXPECT_EQ(i.length, bytes.size());
    const std::array<u64, 2> addresses{0x7000, 0x7008};
    return champsim_record<ChampSimRecord>(i, i.end() + 1, std::span(addresses).first(i.memory_operands));
  };
  const auto kind = [&](std::initializer_list<int> bytes) {
    return branch_kind(ChampSimFields(record_of(bytes)), ChampSimBranches::since_2023);
  };
  EXPECT_EQ(kind({0x74, 0x10}), BranchKind::conditional);
  EXPECT_EQ(kind({0xE2, 0x10}), BranchKind::conditional) << "loop";
  EXPECT_EQ(kind({0xE1, 0x10}), BranchKind::conditional) << "loope";
  EXPECT_EQ(kind({0xEB, 0x10}), BranchKind::direct_jump);
  EXPECT_EQ(kind({0xFF, 0xE0}), BranchKind::indirect_jump) << "jmp rax";
  EXPECT_EQ(kind({0xFF, 0x25, 0, 0, 0, 0}), BranchKind::indirect_jump) << "jmp [rip]";
  EXPECT_EQ(kind({0xE8, 0x10, 0, 0, 0}), BranchKind::direct_call);
  EXPECT_EQ(kind({0xFF, 0xD0}), BranchKind::indirect_call) << "call rax";
  EXPECT_EQ(kind({0xFF, 0x14, 0x24}), BranchKind::indirect_call) << "call [rsp]";
  EXPECT_EQ(kind({0xC3}), BranchKind::near_return);
  EXPECT_EQ(kind({0x0F, 0x05}), BranchKind::none) << "syscall is no branch to Pin";
  EXPECT_EQ(kind({0x48, 0x8B, 0x05, 0, 0, 0, 0}), BranchKind::none) << "mov rax, [rip]";
  const ChampSimRecord push = record_of({0xFF, 0x30});  // push [rax]
  EXPECT_NE(push.loads[0], 0u);
  EXPECT_NE(push.stores[0], 0u);
}

}  // namespace
}  // namespace pmusim::formats
