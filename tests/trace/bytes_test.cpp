// SPDX-License-Identifier: MIT
#include "trace/bytes.h"

#include <gtest/gtest.h>

#include <string_view>

#include "trace/format.h"

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

TEST(Bytes, NumbersOfEveryLengthAreReadAsWrittenWhateverFollows) {
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

}  // namespace
}  // namespace pmusim::trace
