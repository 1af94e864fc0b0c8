// SPDX-License-Identifier: MIT
#include "why/distribution.h"

#include <gtest/gtest.h>

namespace pmusim::why {
namespace {

TEST(WhyDistribution, OfSmallNumbersIsExact) {
  Distribution numbers;
  for (u64 n = 1; n <= 50; ++n) numbers.add(n);
  EXPECT_EQ(numbers.count(), 50u);
  EXPECT_EQ(numbers.sum(), 50u * 51 / 2);
  EXPECT_EQ(numbers.percentile(50), 25u);
  EXPECT_EQ(numbers.percentile(90), 45u);
  EXPECT_EQ(numbers.percentile(100), 50u);
  EXPECT_EQ(numbers.max(), 50u);
  ASSERT_EQ(numbers.buckets().size(), 50u);
  EXPECT_EQ(numbers.buckets()[7].first, 8u);
  EXPECT_EQ(numbers.buckets()[7].last, 8u);
}

TEST(WhyDistribution, OfLargeNumbersIsWithinAThirtySecond) {
  for (u64 number = 64; number < ~u64{0} / 3; number = number * 3 + 1) {
    Distribution one;
    one.add(number);
    one.add(~u64{0} / 2);
    const auto buckets = one.buckets();
    ASSERT_EQ(buckets.size(), 2u) << number;
    EXPECT_LE(buckets[0].first, number);
    EXPECT_GE(buckets[0].last, number);
    EXPECT_LE((buckets[0].last - buckets[0].first) * 32, number);
    EXPECT_EQ(one.percentile(50), buckets[0].last);
  }
}

TEST(WhyDistribution, BucketsFollowEachOther) {
  Distribution all;
  for (u64 n = 0; n < 3000; ++n) all.add(n);
  u64 next = 0;
  for (const auto& [first, last, count] : all.buckets()) {
    EXPECT_EQ(first, next);
    next = last + 1;
    EXPECT_EQ(count, std::min<u64>(last, 2999) - first + 1);
  }
}

TEST(WhyDistribution, AddsUp) {
  Distribution few, many;
  few.add(3);
  many.add(1000, 4);
  few += many;
  EXPECT_EQ(few.count(), 5u);
  EXPECT_EQ(few.sum(), 4003u);
  EXPECT_EQ(few.max(), 1000u);
  EXPECT_EQ(few.percentile(20), 3u);
  EXPECT_EQ(few.percentile(21), 1000u) << "no more than the largest";
}

TEST(WhyDistribution, OfNothingIsNothing) {
  EXPECT_EQ(Distribution().percentile(50), 0u);
  EXPECT_TRUE(Distribution().buckets().empty());
}

}  // namespace
}  // namespace pmusim::why
