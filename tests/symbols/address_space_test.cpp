// SPDX-License-Identifier: MIT
#include "symbols/address_space.h"

#include <gtest/gtest.h>

namespace pmusim::symbols {

namespace {

class AddressSpacesTest : public testing::Test {
 protected:
  /// The file seen at an address; "" if nothing is known to be there.
  std::string seen(u32 pid, u64 time, u64 address) const {
    const auto space = spaces.find(pid, time);
    const Mapping* const mapping = space ? spaces[*space].find(address) : nullptr;
    return mapping == nullptr ? "" : spaces.files()[mapping->file].path;
  }
  void map(u32 pid, u64 time, u64 start, u64 end, const std::string& path) {
    spaces.map(pid, time, {start, end, 0, spaces.add_file({path, {}})});
  }
  AddressSpaces spaces;
};

TEST_F(AddressSpacesTest, AMappingEndsBeforeItsEnd) {
  map(1, 0, 0x1000, 0x2000, "a");
  EXPECT_EQ(seen(1, 5, 0x1fff), "a");
  EXPECT_EQ(seen(1, 5, 0x2000), "");
  EXPECT_EQ(seen(1, 5, 0xfff), "");
  EXPECT_EQ(seen(2, 5, 0x1000), "");
}

TEST_F(AddressSpacesTest, AMappingOverAnotherHidesItFromThenOn) {
  map(1, 0, 0x1000, 0x4000, "a");
  map(1, 10, 0x2000, 0x3000, "b");
  EXPECT_EQ(seen(1, 9, 0x2000), "a");
  EXPECT_EQ(seen(1, 10, 0x2000), "b");
  EXPECT_EQ(seen(1, 10, 0x1fff), "a");
  EXPECT_EQ(seen(1, 10, 0x3000), "a");
  const auto space = *spaces.find(1, 10);
  EXPECT_EQ(spaces[space].find(0x3000)->file_offset, 0x2000u);
}

TEST_F(AddressSpacesTest, OneThatFillsAHoleStartsNoNewState) {
  map(1, 0, 0x1000, 0x2000, "a");
  map(1, 10, 0x3000, 0x4000, "b");
  EXPECT_EQ(spaces.find(1, 0), spaces.find(1, 20));
}

TEST_F(AddressSpacesTest, AChildHasWhatItsParentHadAndGoesItsOwnWay) {
  map(1, 0, 0x1000, 0x2000, "a");
  spaces.fork(1, 2, 10);
  map(2, 20, 0x3000, 0x4000, "b");
  map(1, 30, 0x1000, 0x2000, "c");
  EXPECT_EQ(seen(2, 40, 0x1000), "a");
  EXPECT_EQ(seen(2, 40, 0x3000), "b");
  EXPECT_EQ(seen(1, 40, 0x3000), "");
  EXPECT_EQ(seen(1, 40, 0x1000), "c");
}

TEST_F(AddressSpacesTest, ExecForgetsEverything) {
  map(1, 0, 0x1000, 0x2000, "a");
  spaces.exec(1, 10);
  map(1, 10, 0x3000, 0x4000, "b");
  EXPECT_EQ(seen(1, 5, 0x1000), "a");
  EXPECT_EQ(seen(1, 15, 0x1000), "");
  EXPECT_EQ(seen(1, 15, 0x3000), "b");
}

TEST_F(AddressSpacesTest, AThreadIsNoNewProcess) {
  map(1, 0, 0x1000, 0x2000, "a");
  spaces.fork(1, 1, 10);
  EXPECT_EQ(spaces.find(1, 0), spaces.find(1, 20));
}

TEST_F(AddressSpacesTest, AStormOfChangesIsBoundedAndSaidToBeInexact) {
  for (u64 i = 0; i < 2000; ++i) map(1, i, i << 12, (i + 1) << 12, "a" + std::to_string(i));
  EXPECT_TRUE(spaces.is_exact());
  for (u64 i = 0; i < 2000; ++i) map(1, 2000 + i, 0, 1 << 12, "b" + std::to_string(i));
  EXPECT_FALSE(spaces.is_exact());
  EXPECT_EQ(seen(1, 9999, 0), "b1999");
}

}  // namespace

}  // namespace pmusim::symbols
