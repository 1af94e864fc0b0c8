// SPDX-License-Identifier: MIT
#include "base/crc32.h"

#include <gtest/gtest.h>

#include <string_view>

namespace pmusim {
namespace {

// The check value that every description of CRC-32 (IEEE 802.3) gives.
TEST(Crc32, IsThatOfTheStandard) {
  constexpr std::string_view digits = "123456789";
  EXPECT_EQ(crc32(digits.data(), digits.size()), 0xCBF43926u);
  EXPECT_EQ(crc32(digits.data(), 0), 0u);
}

}  // namespace
}  // namespace pmusim
