// SPDX-License-Identifier: MIT
#include "core/move_slots.h"

#include <gtest/gtest.h>

namespace pmusim::move_slots_test {
namespace {

TEST(MoveSlots, AreTakenByMovesOfOneCycle) {
  MoveSlots slots(4, 2, true);
  for (unsigned n = 0; n < 4; ++n) EXPECT_TRUE(slots.eliminate(n, 8 + n, 10));
  EXPECT_FALSE(slots.eliminate(4, 12, 10));
}

TEST(MoveSlots, StayTakenUntilAllNamesAreWritten) {
  MoveSlots slots(1, 2, true);
  EXPECT_TRUE(slots.eliminate(0, 1, 10));
  slots.write(1, 11);
  EXPECT_FALSE(slots.eliminate(2, 3, 20));
  slots.write(0, 21);
  EXPECT_FALSE(slots.eliminate(2, 3, 22));  // not known yet
  EXPECT_TRUE(slots.eliminate(2, 3, 23));
}

TEST(MoveSlots, AreFreeWithOneNameLeftWhereThatKeepsNone) {
  MoveSlots slots(1, 2, false);
  EXPECT_TRUE(slots.eliminate(0, 1, 10));
  slots.write(1, 11);
  EXPECT_TRUE(slots.eliminate(2, 3, 20));
  EXPECT_EQ(slots.names(), bit(2) | bit(3));
}

TEST(MoveSlots, OneValueWithManyNamesHasOne) {
  MoveSlots slots(2, 2, true);
  EXPECT_TRUE(slots.eliminate(0, 1, 10));
  EXPECT_TRUE(slots.eliminate(1, 2, 20));
  EXPECT_TRUE(slots.eliminate(0, 3, 30));
  EXPECT_TRUE(slots.eliminate(4, 5, 40));
  EXPECT_FALSE(slots.eliminate(6, 7, 50));
}

TEST(MoveSlots, AMoveIntoANameLeavesItsOldValue) {
  MoveSlots slots(8, 2, true);
  EXPECT_TRUE(slots.eliminate(0, 1, 10));
  EXPECT_TRUE(slots.eliminate(2, 1, 20));
  slots.write(0, 30);
  EXPECT_EQ(slots.names(), bit(1) | bit(2));
}

}  // namespace
}  // namespace pmusim::move_slots_test
