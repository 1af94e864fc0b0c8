#include "pmusim/annotate/branch_counts.h"

#include <gtest/gtest.h>

namespace pmusim::annotate {

namespace {

perf::BranchEntry branch(u64 from, u64 to, u16 cycles = 0) {
  perf::BranchEntry entry;
  entry.from = from;
  entry.to = to;
  entry.predicted = 1;
  entry.cycles = cycles;
  return entry;
}

TEST(BranchCounts, AStackOfThreeHasThreeBranchesAndTwoLines) {
  BranchCounts counts;
  const std::vector<perf::BranchEntry> newest_first{branch(0x58, 0x10), branch(0x44, 0x50),
                                                    branch(0x30, 0x40)};
  counts.add_branches(newest_first);
  counts.add_lines(newest_first);
  EXPECT_EQ(counts.edges().size(), 3u);
  ASSERT_EQ(counts.lines().size(), 2u);
  EXPECT_EQ(counts.lines()[0].key(), std::pair(u64{0x50}, u64{0x58}));
  EXPECT_EQ(counts.lines()[1].key(), std::pair(u64{0x40}, u64{0x44}));
}

TEST(BranchCounts, EqualLinesAreKeptOnce) {
  BranchCounts counts;
  const std::vector<perf::BranchEntry> loop(32, branch(0x30, 0x10));
  for (int i = 0; i < 100; ++i) counts.add_lines(loop);
  ASSERT_EQ(counts.lines().size(), 1u);
  EXPECT_EQ(counts.lines()[0].executions, 3100u);
  EXPECT_EQ(counts.lines()[0].predicted, 3100u);
}

TEST(BranchCounts, WhatRunsBackwardsOrStartsNowhereIsBroken) {
  BranchCounts counts;
  counts.add_lines(std::vector{branch(0x10, 0x50), branch(0x30, 0x40)});  // would run from 0x40 to 0x10
  counts.add_lines(std::vector{branch(0x10, 0x50), branch(0x30, 0)});
  EXPECT_TRUE(counts.lines().empty());
  EXPECT_EQ(counts.broken_lines(), 2u);
}

TEST(BranchCounts, CyclesBelongToTheLineThatEndsWithTheirBranch) {
  BranchCounts counts;
  counts.add_lines(std::vector{branch(0x18, 0x10, 7), branch(0x18, 0x10, 5), branch(0x18, 0x10, 9)});
  EXPECT_EQ(counts.lines()[0].cycles, (BlockCycles{.executions = 2, .sum = 12, .min = 5, .max = 7}));
}

TEST(BranchCounts, LinesWithoutCyclesDoNotLowerTheAverage) {
  BranchCounts counts;
  counts.add_lines(std::vector{branch(0x18, 0x10, 6), branch(0x18, 0x10, 0), branch(0x18, 0x10, 0)});
  EXPECT_EQ(counts.lines()[0].executions, 2u);
  EXPECT_EQ(counts.lines()[0].cycles.average(), 6u);
}

TEST(BranchCounts, CounterWordsAreCutIntoFieldsAndTheLargestValueSaturates) {
  BranchCounts counts;
  const std::vector<perf::BranchEntry> loop(3, branch(0x18, 0x10));
  counts.add_lines(loop, std::vector<u64>{0b0110, 0b0101, 0}, {.counters = 2, .bits = 2});
  EXPECT_EQ(counts.lines()[0].counter_sum[0], 3u);
  EXPECT_EQ(counts.lines()[0].counter_sum[1], 2u);
  EXPECT_FALSE(counts.lines()[0].counters_saturated);
  counts.add_lines(loop, std::vector<u64>{0b0011, 0, 0}, {.counters = 2, .bits = 2});
  EXPECT_TRUE(counts.lines()[0].counters_saturated);
}

}  // namespace

}  // namespace pmusim::annotate
