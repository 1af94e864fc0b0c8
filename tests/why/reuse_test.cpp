// SPDX-License-Identifier: MIT
#include "why/reuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace pmusim::why {
namespace {

TEST(WhyReuse, DistanceIsTheNumberOfOtherLinesBetween) {
  Reuse reuse;
  for (const u64 line : {1, 2, 3, 2, 2, 1}) reuse.access(line);
  // 2 after 3; 2 after itself; 1 after 2 and 3.
  EXPECT_EQ(reuse.lines(), 3u);
  EXPECT_EQ(reuse.accesses(), 6u);
  const auto buckets = reuse.distances().buckets();
  ASSERT_EQ(buckets.size(), 3u);
  for (u64 n = 0; n < 3; ++n) {
    EXPECT_EQ(buckets[n].first, n);
    EXPECT_EQ(buckets[n].count, 1u);
  }
}

// The stack of Mattson's algorithm, kept as a list.
TEST(WhyReuse, IsThatOfAListOfLines) {
  std::mt19937 random(7);
  Reuse reuse;
  Distribution expected;
  std::vector<u64> stack;
  for (int n = 0; n < 30'000; ++n) {
    const u64 line = std::uniform_int_distribution<u64>(0, n % 3 == 0 ? 400 : 20)(random);
    reuse.access(line);
    const auto known = std::ranges::find(stack, line);
    if (known != stack.end()) {
      expected.add(static_cast<u64>(known - stack.begin()));
      stack.erase(known);
    }
    stack.insert(stack.begin(), line);
  }
  EXPECT_EQ(reuse.lines(), stack.size());
  ASSERT_EQ(reuse.distances().buckets().size(), expected.buckets().size());
  for (std::size_t n = 0; n < expected.buckets().size(); ++n) {
    EXPECT_EQ(reuse.distances().buckets()[n].first, expected.buckets()[n].first);
    EXPECT_EQ(reuse.distances().buckets()[n].count, expected.buckets()[n].count);
  }
}

TEST(WhyReuse, StretchesHaveTheirOwnLines) {
  Reuse reuse;
  for (const u64 line : {1, 1, 2}) reuse.access(line);
  reuse.end_stretch();
  for (const u64 line : {2, 3, 4, 5, 5, 2}) reuse.access(line);
  reuse.end_stretch();
  reuse.end_stretch();
  EXPECT_EQ(reuse.stretches().count(), 2u) << "one without accesses is none";
  EXPECT_EQ(reuse.stretches().max(), 4u);
  EXPECT_EQ(reuse.stretches().percentile(50), 2u);
}

}  // namespace
}  // namespace pmusim::why
