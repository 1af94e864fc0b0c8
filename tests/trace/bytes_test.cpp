// SPDX-License-Identifier: MIT
#include "trace/bytes.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>

#include "trace/format.h"
#include "trace/number_batch.h"

namespace pmusim::trace {
namespace {

/// Of every length, from both ends of it.
std::vector<u64> numbers_of_every_length() {
  std::vector<u64> numbers{0, ~u64{0}};
  for (unsigned bits = 7; bits < 64; bits += 7) {
    numbers.push_back((u64{1} << bits) - 1);
    numbers.push_back(u64{1} << bits);
    numbers.push_back(0x5A5A'5A5A'5A5A'5A5A >> (64 - bits));
  }
  return numbers;
}

TEST(Bytes, NumbersOfEveryLengthAreReadAsTheyWereWrittenWithOthersBehindThemAndWithout) {
  for (const u64 number : numbers_of_every_length()) {
    for (const std::size_t others : {0u, 1u, 7u, 8u, 20u}) {
      ByteWriter out;
      out.number(number);
      for (std::size_t n = 0; n < others; ++n) out.byte(0xFF);
      ByteReader in(out.data());
      EXPECT_EQ(in.number(), number) << others;
      EXPECT_EQ(in.bytes(others).size(), others);
      EXPECT_TRUE(in.ok() && in.at_end());
    }
  }
}

TEST(Bytes, NumbersThatEndEarlyOrNeverAreNoNumbers) {
  for (const std::size_t bytes : {1u, 7u, 8u, 9u, 30u}) {
    const std::vector<u8> endless(bytes, 0x80);
    ByteReader in(endless);
    EXPECT_EQ(in.number(), 0u);
    EXPECT_FALSE(in.ok());
  }
}

/// Most short, some of each length.
std::vector<u64> many_numbers() {
  std::mt19937_64 random(1);
  std::vector<u64> numbers;
  for (int n = 0; n < 5000; ++n) {
    const u64 value = random();
    numbers.push_back(value >> (n % 3 == 0 ? value % 64 : 58));
  }
  return numbers;
}

TEST(NumberBatch, HasTheNumbersThatWereWrittenHoweverManyAreTakenAtOnce) {
  const auto numbers = many_numbers();
  ByteWriter out;
  for (const u64 number : numbers) out.number(number);
  for (const std::size_t at_once : {1u, 3u, 64u, 512u, 1000u}) {
    NumberBatch batch{ByteReader(out.data())};
    for (std::size_t n = 0; n < numbers.size(); n += at_once) {
      const std::size_t count = std::min(at_once, numbers.size() - n);
      const u64* const taken = batch.take(count);
      ASSERT_NE(taken, nullptr) << n;
      ASSERT_TRUE(std::equal(taken, taken + count, numbers.begin() + static_cast<std::ptrdiff_t>(n))) << n;
    }
    EXPECT_TRUE(batch.at_end());
    EXPECT_EQ(batch.take(1), nullptr);
  }
}

TEST(NumberBatch, HasWhatStandsBeforeANumberThatIsNoneAndNeverComesToTheEnd) {
  for (const std::size_t before : {0u, 1u, 40u, 200u}) {
    ByteWriter out;
    for (std::size_t n = 0; n < before; ++n) out.number(n);
    for (int n = 0; n < 100; ++n) out.byte(0x80);
    NumberBatch batch{ByteReader(out.data())};
    for (std::size_t n = 0; n < before; ++n) {
      const u64* const taken = batch.take(1);
      ASSERT_NE(taken, nullptr);
      ASSERT_EQ(*taken, n);
    }
    EXPECT_EQ(batch.take(1), nullptr);
    EXPECT_FALSE(batch.at_end());
  }
}

}  // namespace
}  // namespace pmusim::trace
