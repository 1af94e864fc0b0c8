// SPDX-License-Identifier: MIT
#include "annotate/branch_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/annotate/branch.h"

namespace pmusim::annotate {

namespace {

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

TEST(BranchCounts, CounterFieldsSaturateAtTheirLargestValue) {
  BranchCounts counts;
  const std::vector<perf::BranchEntry> loop(3, branch(0x18, 0x10));
  counts.add_lines(loop, std::vector<u64>{0b0110, 0b0101, 0}, {.counters = 2, .bits = 2});
  EXPECT_EQ(counts.lines()[0].counter_sum[0], 3u);
  EXPECT_EQ(counts.lines()[0].counter_sum[1], 2u);
  EXPECT_FALSE(counts.lines()[0].counters_saturated);
  counts.add_lines(loop, std::vector<u64>{0b0011, 0, 0}, {.counters = 2, .bits = 2});
  EXPECT_TRUE(counts.lines()[0].counters_saturated);
}

/// Branches and lines one by one, in maps.
struct OneByOne {
  using Counts = std::map<std::pair<u64, u64>, std::pair<u64, u64>>;  // how often, of these predicted
  Counts edges, lines;
  u64 broken = 0;

  void add(const std::vector<perf::BranchEntry>& newest_first) {
    for (const perf::BranchEntry& e : newest_first)
      if (e.from != 0 && e.to != 0) count(edges[{e.from, e.to}], e);
    for (std::size_t i = 1; i < newest_first.size(); ++i) {
      const u64 first = newest_first[i].to, last = newest_first[i - 1].from;
      if (first == 0 || first > last)
        ++broken;
      else
        count(lines[{first, last}], newest_first[i - 1]);
    }
  }
  static void count(std::pair<u64, u64>& sum, const perf::BranchEntry& entry) {
    ++sum.first;
    sum.second += entry.predicted;
  }
};

class RandomStacks : public testing::TestWithParam<u32> {};

TEST_P(RandomStacks, OfAnyDepthAreCountedAsOneByOne) {
  std::mt19937 random(GetParam());
  BranchCounts counts;
  OneByOne expected;
  for (int i = 0; i < 40; ++i) {
    std::vector<perf::BranchEntry> stack(random() % 80);
    for (perf::BranchEntry& entry : stack) {
      entry.from = random() % 24;
      entry.to = random() % 24;
      entry.predicted = random() % 2 != 0;
    }
    counts.add_branches(stack);
    counts.add_lines(stack);
    expected.add(stack);
  }
  OneByOne::Counts edges, lines;
  for (const EdgeCount& edge : counts.edges()) edges[edge.key()] = {edge.taken, edge.predicted};
  for (const LineCount& line : counts.lines()) lines[line.key()] = {line.executions, line.predicted};
  EXPECT_EQ(edges, expected.edges);
  EXPECT_EQ(lines, expected.lines);
  EXPECT_EQ(counts.broken_lines(), expected.broken);
  EXPECT_EQ(edges.size(), counts.edges().size());
  EXPECT_EQ(lines.size(), counts.lines().size());
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomStacks, testing::Range(0u, 20u));

}  // namespace

}  // namespace pmusim::annotate
