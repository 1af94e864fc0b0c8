// SPDX-License-Identifier: MIT
#include "formats/stand_in.h"

#include <gtest/gtest.h>

#include "pmusim/x86/instruction.h"

namespace pmusim::formats::stand_in_test {
namespace {

constexpr u64 ip = 0x401000;

x86::Instruction decoded(const Shape& shape) { return x86::decode(stand_in(ip, shape).bytes(), ip); }

TEST(StandIn, HasTheLengthAskedForWhateverItDoes) {
  for (const auto kind : {BranchKind::none, BranchKind::conditional, BranchKind::direct_jump,
                          BranchKind::indirect_jump, BranchKind::indirect_call, BranchKind::near_return}) {
    for (u8 length = 2; length <= 15; ++length) {
      const auto i = decoded({.kind = kind, .length = length, .target = ip + 0x40});
      EXPECT_EQ(i.length, length) << name_of(kind);
      EXPECT_EQ(i.branch, kind) << int{length};
    }
  }
}

TEST(StandIn, BranchesToItsTarget) {
  for (const u64 target : {ip + 0x20, ip - 0x20, ip + 0x12345, ip - 0x12345}) {
    EXPECT_EQ(decoded({.kind = BranchKind::conditional, .target = target}).target, target);
    EXPECT_EQ(decoded({.kind = BranchKind::direct_jump, .target = target}).target, target);
    EXPECT_EQ(decoded({.kind = BranchKind::direct_call, .target = target}).target, target);
    EXPECT_EQ(decoded({.kind = BranchKind::direct_call, .length = 6, .target = target}).target, target);
  }
}

TEST(StandIn, AccessesMemoryAsDescribedWhereThereIsRoom) {
  for (const u16 bytes : std::array<u16, 6>{1, 2, 4, 8, 16, 32}) {
    const auto load = decoded({.length = 5, .loads = 1, .access_bytes = bytes});
    ASSERT_EQ(load.memory_operands, 1) << bytes;
    EXPECT_EQ(load.memory[0].bytes, bytes);
    EXPECT_TRUE(load.memory[0].load && !load.memory[0].store);
    const auto store = decoded({.length = 5, .stores = 1, .access_bytes = bytes});
    ASSERT_EQ(store.memory_operands, 1) << bytes;
    EXPECT_EQ(store.memory[0].bytes, bytes);
    EXPECT_TRUE(!store.memory[0].load && store.memory[0].store);
  }
  const auto both = decoded({.length = 4, .modifications = 1, .access_bytes = 4});
  ASSERT_EQ(both.memory_operands, 1);
  EXPECT_TRUE(both.memory[0].load && both.memory[0].store);
  EXPECT_EQ(decoded({.length = 2, .stores = 1, .access_bytes = 8}).memory[0].bytes, 8) << "push r12, say";
  EXPECT_EQ(decoded({.length = 1, .loads = 1}).memory_operands, 1) << "pop";
  EXPECT_EQ(decoded({.length = 1, .stores = 1}).memory_operands, 1) << "push";
  EXPECT_EQ(decoded({.length = 3, .loads = 1, .stores = 1}).memory_operands, 2) << "movs";
  EXPECT_EQ(decoded({.kind = BranchKind::indirect_call, .loads = 1, .stores = 1}).memory_operands, 2);
}

TEST(StandIn, OfARepeatedAccessIsAStringInstruction) {
  EXPECT_TRUE(decoded({.length = 2, .repeats = true, .stores = 1}).rep);
  EXPECT_TRUE(decoded({.length = 3, .repeats = true, .loads = 1, .stores = 1}).rep);
  EXPECT_FALSE(decoded({.length = 3, .loads = 1, .stores = 1}).rep);
}

}  // namespace
}  // namespace pmusim::formats::stand_in_test
