// SPDX-License-Identifier: MIT
#include "annotate/block_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

namespace pmusim::annotate {

namespace {

// docs/annotate.md, "From branch stacks to blocks": the worked example.
TEST(BlockRanges, AnEntryInTheMiddleSplitsARangeKeepingItsCoverage) {
  BlockRanges ranges;
  ranges.add({.first = 0x10, .last = 0x30, .executions = 3, .predicted = 2});
  ranges.add({.first = 0x20, .last = 0x30, .executions = 1, .predicted = 1});
  EXPECT_THAT(ranges.ranges(),
              testing::ElementsAre(
                  BlockRange{.first = 0x10, .last = 0x1f, .entry = 3, .coverage = 3, .is_target = true},
                  BlockRange{0x20, 0x30, 1, 4, 4, 3, 0, true, true}));
}

TEST(BlockRanges, ABranchInTheMiddleLeavesTheRestToTheFallThrough) {
  BlockRanges ranges;
  ranges.add({.first = 0x10, .last = 0x30, .executions = 1, .predicted = 1});
  ranges.add({.first = 0x10, .last = 0x20, .executions = 3, .predicted = 0});
  EXPECT_THAT(ranges.ranges(), testing::ElementsAre(BlockRange{0x10, 0x20, 4, 4, 3, 0, 0, true, true},
                                                    BlockRange{0x21, 0x30, 0, 1, 1, 1, 0, false, true}));
  EXPECT_EQ(ranges.coverage_of_next_branch(ranges.ranges()[0]), 4u);
}

TEST(BlockRanges, WhatWasNotExecutedIsInNoRange) {
  BlockRanges ranges;
  ranges.add({.first = 0x10, .last = 0x20});
  ranges.add({.first = 0x40, .last = 0x50});
  EXPECT_EQ(ranges.find(0x30), nullptr);
  EXPECT_EQ(ranges.find(0xf), nullptr);
  EXPECT_EQ(ranges.find(0x51), nullptr);
  EXPECT_EQ(ranges.find(0x50)->first, 0x40u);
}

TEST(BlockRanges, TheWholeAddressSpaceIsARangeToo) {
  BlockRanges ranges;
  ranges.add({.first = 0, .last = ~u64{0}});
  ranges.add({.first = 8, .last = ~u64{0}});
  EXPECT_EQ(ranges.find(7)->coverage, 1u);
  EXPECT_EQ(ranges.find(~u64{0})->coverage, 2u);
}

TEST(BlockRanges, LinesThatRunBackwardsAreIgnored) {
  BlockRanges ranges;
  ranges.add({.first = 0x20, .last = 0x10});
  EXPECT_TRUE(ranges.ranges().empty());
}

/// Counts address by address, without any idea of ranges.
struct BruteForce {
  static constexpr std::size_t addresses = 64;
  std::array<u64, addresses> coverage{}, entry{}, taken{}, predicted{};

  void add(const BlockRanges::Line& line) {
    if (line.first > line.last) return;
    for (u64 a = line.first; a <= line.last; ++a) coverage[a] += line.executions;
    entry[line.first] += line.executions;
    taken[line.last] += line.executions;
    predicted[line.last] += line.predicted;
  }
};

void expect_equal(const BlockRanges& ranges, const BruteForce& brute) {
  for (u64 a = 0; a < BruteForce::addresses; ++a) {
    const BlockRange* const range = ranges.find(a);
    ASSERT_EQ(range == nullptr, brute.coverage[a] == 0) << "at " << a;
    if (range == nullptr) continue;
    ASSERT_EQ(range->coverage, brute.coverage[a]) << "at " << a;
    ASSERT_EQ(range->first == a ? range->entry : 0, brute.entry[a]) << "at " << a;
    ASSERT_EQ(range->last == a ? range->taken : 0, brute.taken[a]) << "at " << a;
    ASSERT_EQ(range->last == a ? range->predicted : 0, brute.predicted[a]) << "at " << a;
    ASSERT_EQ(range->first == a && range->is_target, brute.entry[a] != 0) << "at " << a;
    ASSERT_EQ(range->last == a && range->is_branch, brute.taken[a] != 0) << "at " << a;
  }
}

void expect_disjoint(const std::vector<BlockRange>& ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    ASSERT_LE(ranges[i].first, ranges[i].last);
    if (i != 0) {
      ASSERT_LT(ranges[i - 1].last, ranges[i].first);
    }
  }
}

class RandomLines : public testing::TestWithParam<u32> {};

TEST_P(RandomLines, GiveTheSameAsCountingEveryAddressAfterEachLine) {
  std::mt19937 random(GetParam());
  const auto below = [&](u64 n) { return random() % n; };
  BlockRanges ranges;
  BruteForce brute;
  for (int i = 0; i < 60; ++i) {
    BlockRanges::Line line{below(64), below(64), 1 + below(5), 0};
    line.predicted = below(line.executions + 1);
    ranges.add(line);
    brute.add(line);
    expect_disjoint(ranges.ranges());
    expect_equal(ranges, brute);
    ASSERT_EQ(ranges.max_coverage(0, 64), *std::ranges::max_element(brute.coverage));
    ASSERT_EQ(ranges.max_coverage(16, 32),
              *std::max_element(brute.coverage.begin() + 16, brute.coverage.begin() + 32));
  }
}
// More lines than a batch holds, and nobody asks in between.
TEST_P(RandomLines, GiveTheSameWhenBatchesOfThemAreAddedUp) {
  std::mt19937 random(GetParam());
  const auto below = [&](u64 n) { return random() % n; };
  BlockRanges ranges;
  BruteForce brute;
  for (int i = 0; i < 3000; ++i) {
    const BlockRanges::Line line{below(64), below(64), 1 + below(3), 1};
    ranges.add(line);
    brute.add(line);
  }
  expect_disjoint(ranges.ranges());
  expect_equal(ranges, brute);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomLines, testing::Range(0u, 50u));

}  // namespace

}  // namespace pmusim::annotate
