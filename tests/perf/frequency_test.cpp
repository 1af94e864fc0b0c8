// SPDX-License-Identifier: MIT
// Periods of events with a frequency: Linux, perf_calculate_period and perf_adjust_period.
#include "perf/frequency.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pmusim::perf {
namespace {

TEST(TargetPeriod, IsTheRateDividedByTheFrequency) {
  EXPECT_EQ(target_period(3'000'000, 1'000'000, 1000), 3'000'000u);  // 3 GHz, a thousand times a second
  EXPECT_EQ(target_period(500, 1'000'000, 4000), 125u);
}

TEST(TargetPeriod, IsZeroForWhatIsRarerThanTheFrequency) {
  EXPECT_EQ(target_period(0, 1'000'000, 1000), 0u);
  EXPECT_EQ(target_period(7, 1'000'000, 9000), 0u);
  EXPECT_EQ(target_period(u64{1} << 33, u64{1} << 52, 1u << 14), 0u);  // a divisor beyond 64 bits
}

/// What numbers beyond 64 bits come to, which may lose some of their last digits.
void expect_near(u64 count, u64 ns, u64 frequency) {
  const double exact =
      static_cast<double>(count) * 1e9 / (static_cast<double>(ns) * static_cast<double>(frequency));
  const double found = static_cast<double>(target_period(count, ns, frequency));
  EXPECT_LT(std::abs(found - exact), exact / 1000) << count << " in " << ns << " ns at " << frequency;
}

TEST(TargetPeriod, KeepsItsSizeWhereProductsDoNotFitIn64Bits) {
  expect_near(u64{1} << 50, 1'000'000, 1000);                  // the dividend does not
  expect_near(u64{1} << 62, u64{1} << 50, 1u << 20);           // neither does
  expect_near(u64{3} << 60, 77'777'777'777'777, 99'999);       // nor here, with odd numbers
  expect_near(0xFFFF'FFFF'FFFF'FFFF, 1'000'000'000, 100'000);  // as much as there can be
}

TEST(NextPeriod, GoesAnEighthOfTheWay) {
  EXPECT_EQ(next_period(1000, 1800), 1100u);
  EXPECT_EQ(next_period(1800, 1000), 1700u);
  EXPECT_EQ(next_period(1000, 1000), 1000u);
}

TEST(NextPeriod, TakesAtLeastAStepAndStaysAboveZero) {
  EXPECT_EQ(next_period(1000, 1001), 1001u);
  EXPECT_EQ(next_period(1000, 999), 999u);
  EXPECT_EQ(next_period(1081, 0), 945u);
  EXPECT_EQ(next_period(1, 0), 1u);
}

}  // namespace
}  // namespace pmusim::perf
