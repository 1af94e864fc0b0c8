// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {
namespace {

TEST(Bits, FieldsAreNamedAsInTheManual) {
  EXPECT_EQ(bits(11, 8), 0xF00u);
  EXPECT_EQ(bits(63, 0), ~u64{0});
  EXPECT_EQ(field(0xABCD, 15, 8), 0xABu);
  EXPECT_EQ(to_field(0x1F, 11, 8), 0xF00u);
}

TEST(Bits, SignExtensionCopiesTheNamedBit) {
  EXPECT_EQ(sign_extend(0x80000000, 31), 0xFFFFFFFF80000000u);
  EXPECT_EQ(sign_extend(0x7FFFFFFF, 31), 0x7FFFFFFFu);
}

TEST(Bits, CanonicalAddressesRepeatTheirTopBit) {
  EXPECT_TRUE(is_canonical(0x00007FFFFFFFFFFF));
  EXPECT_TRUE(is_canonical(0xFFFF800000000000));
  EXPECT_FALSE(is_canonical(0x0000800000000000));
  EXPECT_TRUE(is_canonical(0x0000800000000000, 57));
}

TEST(Bits, SetBitsComeLowestFirst) {
  std::vector<unsigned> seen;
  for (unsigned n : set_bits(bit(3) | bit(0) | bit(63))) seen.push_back(n);
  EXPECT_EQ(seen, (std::vector<unsigned>{0, 3, 63}));
}

}  // namespace
}  // namespace pmusim
