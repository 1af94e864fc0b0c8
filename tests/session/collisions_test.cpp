// SPDX-License-Identifier: MIT
#include "session/collisions.h"

#include <gtest/gtest.h>

namespace pmusim {
namespace {

TEST(PooledCollisions, OfOneReplayAreWilsonsInterval) {
  const CollisionRate rate = pooled({{.records = 1000, .collided = 10}});
  EXPECT_DOUBLE_EQ(rate.rate, 0.01);
  EXPECT_NEAR(rate.low, 0.0054, 0.0001);
  EXPECT_NEAR(rate.high, 0.0183, 0.0001);
}

TEST(PooledCollisions, WidenTheIntervalWhereReplaysDiffer) {
  const CollisionRate agreeing = pooled({{1000, 10}, {1000, 10}, {1000, 10}});
  const CollisionRate one = pooled({{3000, 30}});
  EXPECT_DOUBLE_EQ(agreeing.low, one.low);
  EXPECT_DOUBLE_EQ(agreeing.high, one.high);
  const CollisionRate differing = pooled({{1000, 0}, {1000, 0}, {1000, 30}});
  EXPECT_DOUBLE_EQ(differing.rate, 0.01);
  EXPECT_LT(differing.low, one.low);
  EXPECT_GT(differing.high, one.high);
}

TEST(PooledCollisions, OfNoneOrAllOfTheRecordsStillLeaveADoubt) {
  EXPECT_EQ(pooled({{100, 0}}).low, 0);
  EXPECT_NEAR(pooled({{100, 0}}).high, 0.037, 0.001);
  EXPECT_NEAR(pooled({{50, 50}, {50, 50}}).low, 0.963, 0.001);
  EXPECT_NEAR(pooled({{50, 50}, {50, 50}}).high, 1, 1e-9);
}

TEST(PooledCollisions, OfNoRecordsSayNothing) {
  const CollisionRate rate = pooled({{0, 0}, {0, 0}});
  EXPECT_EQ(rate.low, 0);
  EXPECT_EQ(rate.high, 1);
}

TEST(CollisionPeriods, AreTheOneAskedForAndThePrimesNextToIt) {
  EXPECT_EQ(periods_around(2003, 4), (std::vector<u64>{2003, 1999, 1997, 2011}));
  EXPECT_EQ(periods_around(1000, 3), (std::vector<u64>{1000, 997, 991}));
}

TEST(CollisionPeriods, StayWithinAQuarterOfTheOneAskedFor) {
  EXPECT_EQ(periods_around(8, 10), (std::vector<u64>{8, 7}));
  EXPECT_EQ(periods_around(1, 10), (std::vector<u64>{1}));
}

}  // namespace
}  // namespace pmusim
