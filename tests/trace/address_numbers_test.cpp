// SPDX-License-Identifier: MIT
#include "trace/address_numbers.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace pmusim::trace {
namespace {

/// The inverse of an odd number modulo 2^64: each step doubles the bits that are right.
constexpr u64 inverse(u64 odd) {
  u64 x = odd;
  for (int n = 0; n < 6; ++n) x *= 2 - odd * x;
  return x;
}

TEST(AddressNumbers, CountInTheOrderOfAsking) {
  AddressNumbers numbers;
  EXPECT_EQ(numbers.number(0x400000).value, 0u);
  EXPECT_EQ(numbers.number(0).value, 1u);
  EXPECT_EQ(numbers.number(~u64{0}).value, 2u);
  EXPECT_TRUE(numbers.number(0x400001).is_new);
  EXPECT_FALSE(numbers.number(0x400000).is_new);
  EXPECT_EQ(numbers.number(0x400001).value, 3u);
  EXPECT_EQ(numbers.size(), 4u);
}

TEST(AddressNumbers, AreAsAMapHasThemForManyAddresses) {
  std::mt19937_64 random(7);
  AddressNumbers numbers;
  std::map<u64, u32> expected;
  for (int n = 0; n < 100'000; ++n) {
    const u64 address = (random() % 3 << 40) + random() % 50'000;
    const auto size = static_cast<u32>(expected.size());
    const auto [known, is_new] = expected.try_emplace(address, size);
    const auto number = numbers.number(address);
    ASSERT_EQ(number.value, known->second);
    ASSERT_EQ(number.is_new, is_new);
  }
  EXPECT_EQ(numbers.lines_without_slot(), 0u);
}

// All in the first slot of the table, whatever its size: without a bound each would look at all before it.
TEST(AddressNumbers, OfLinesWithTheSamePlaceAreFoundAllTheSame) {
  constexpr u64 spread = 0x9E37'79B9'7F4A'7C15, lines = 50'000;
  static_assert(spread * inverse(spread) == 1);
  AddressNumbers numbers;
  std::map<u64, u32> expected;
  for (u64 n = 0; expected.size() < lines; ++n) {
    const u64 line = n * inverse(spread);
    if (line >= u64{1} << 59) continue;  // no line of an address
    expected.emplace(line * AddressNumbers::line_bytes, static_cast<u32>(expected.size()));
    ASSERT_EQ(numbers.number(line * AddressNumbers::line_bytes).value, expected.size() - 1);
  }
  EXPECT_GT(numbers.lines_without_slot(), lines - 2 * AddressNumbers::most_probes);
  for (const auto& [at, number] : expected) ASSERT_EQ(numbers.number(at).value, number);
}

}  // namespace
}  // namespace pmusim::trace
