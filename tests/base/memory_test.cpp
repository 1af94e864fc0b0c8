// SPDX-License-Identifier: MIT
#include "base/memory.h"

#include <gtest/gtest.h>

#include <array>

namespace pmusim {
namespace {

TEST(Memory, RegionsReadAsZeroUntilWritten) {
  Memory memory;
  ASSERT_TRUE(memory.map(0x1000, 0x1000));
  std::array<std::byte, 4> out{std::byte{1}};
  EXPECT_EQ(memory.read(0x1FFC, out), Fault::none);
  EXPECT_EQ(out[0], std::byte{0});
  const std::array<std::byte, 2> in{std::byte{7}, std::byte{8}};
  EXPECT_EQ(memory.write(0x1FFE, in), Fault::none);
  EXPECT_EQ(memory.at(0x1FFF, 1)[0], std::byte{8});
}

TEST(Memory, AccessOutsideOrAcrossTheEndOfARegionIsAPageFault) {
  Memory memory;
  ASSERT_TRUE(memory.map(0x1000, 0x1000));
  std::array<std::byte, 4> out{};
  EXPECT_EQ(memory.read(0xFFF, out), Fault::pf);
  EXPECT_EQ(memory.read(0x1FFE, out), Fault::pf);
  EXPECT_EQ(memory.write(0x3000, out), Fault::pf);
  EXPECT_TRUE(memory.at(~u64{0} - 1, 8).empty());
}

TEST(Memory, RegionsMayNotOverlapOrWrap) {
  Memory memory;
  ASSERT_TRUE(memory.map(0x2000, 0x1000));
  EXPECT_FALSE(memory.map(0x2FFF, 1));
  EXPECT_FALSE(memory.map(0x1000, 0x1001));
  EXPECT_FALSE(memory.map(~u64{0}, 2));
  EXPECT_FALSE(memory.map(0x9000, 0));
  EXPECT_TRUE(memory.map(0x1000, 0x1000));
  EXPECT_TRUE(memory.map(0x3000, 0x1000));
  EXPECT_TRUE(memory.unmap(0x2000));
  EXPECT_FALSE(memory.unmap(0x2000));
}

TEST(Memory, TheCallersOwnBytesCanBeMappedAndUnmapped) {
  std::array<std::byte, 16> own{};
  Memory memory;
  ASSERT_TRUE(memory.map(0x1000, own));
  EXPECT_FALSE(memory.map(0x100F, 1));
  const std::array<std::byte, 2> in{std::byte{7}, std::byte{8}};
  EXPECT_EQ(memory.write(0x100E, in), Fault::none);
  EXPECT_EQ(own[15], std::byte{8});
  own[0] = std::byte{9};
  EXPECT_EQ(memory.at(0x1000, 1)[0], std::byte{9});
  EXPECT_EQ(memory.write(0x100F, in), Fault::pf);
  EXPECT_TRUE(memory.unmap(0x1000));
  EXPECT_EQ(memory.read(0x1000, std::span(own).first(1)), Fault::pf);
}

TEST(Memory, ARegionHasAPhysicalAddressOfItsOwn) {
  Memory memory;
  ASSERT_TRUE(memory.map({.linear = 0x1000, .physical = 0x8000}, 0x1000));
  ASSERT_TRUE(memory.map({.linear = 0x8000, .physical = 0x1000}, 0x1000));
  EXPECT_FALSE(memory.map({.linear = 0x20000, .physical = 0x8FFF}, 1)) << "taken as a physical address";
  EXPECT_FALSE(memory.map(0x8000, 1));
  memory.at_physical(0x8004, 1)[0] = std::byte{5};
  EXPECT_EQ(memory.at(0x1004, 1)[0], std::byte{5});
  EXPECT_EQ(memory.at(0x8004, 1)[0], std::byte{0});
}

TEST(Memory, TheSameBytesCanBeMappedOncePerKindOfAddress) {
  std::array<std::byte, 16> own{};
  Memory memory;
  ASSERT_TRUE(memory.map(Memory::Place::at(0x1000, AddressSpace::linear), own));
  EXPECT_TRUE(memory.at_physical(0x1000, 1).empty());
  ASSERT_TRUE(memory.map(Memory::Place::at(0x1000, AddressSpace::physical), std::span(own).subspan(8)));
  memory.at_physical(0x1000, 1)[0] = std::byte{7};
  EXPECT_EQ(memory.at(0x1008, 1)[0], std::byte{7});
  EXPECT_TRUE(memory.unmap(0x1000, AddressSpace::physical));
  EXPECT_TRUE(memory.at_physical(0x1000, 1).empty());
  EXPECT_FALSE(memory.at(0x1000, 1).empty());
}

TEST(Memory, ACopySharesTheCallersBytesAndHasItsOwnOfTheRest) {
  std::array<std::byte, 4> own{};
  Memory memory;
  ASSERT_TRUE(memory.map(0x1000, own));
  ASSERT_TRUE(memory.map(0x2000, 4));
  Memory copy = memory;
  copy.at(0x1000, 1)[0] = copy.at(0x2000, 1)[0] = std::byte{1};
  EXPECT_EQ(memory.at(0x1000, 1)[0], std::byte{1});
  EXPECT_EQ(memory.at(0x2000, 1)[0], std::byte{0});
}

}  // namespace
}  // namespace pmusim
