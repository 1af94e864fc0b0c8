// SPDX-License-Identifier: MIT
// Natural loops of flow graphs, as Aho, Lam, Sethi and Ullman define them ("Compilers", 9.6).
#include "why/natural_loops.h"

#include <gmock/gmock.h>

namespace pmusim::why {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<BasicBlock> graph(const std::vector<std::vector<u32>>& next) {
  std::vector<BasicBlock> blocks;
  for (const std::vector<u32>& each : next)
    blocks.push_back({.first = blocks.size(), .end = 0, .next = each});
  return blocks;
}

// The flow graph of figure 9.38, whose nodes are one more.
TEST(NaturalLoops, OfTheBookAreFound) {
  const auto loops =
      natural_loops(graph({{1, 2}, {2}, {3}, {2, 4, 5}, {6}, {6}, {3, 7}, {2, 8, 9}, {0}, {6}}), {0});
  // 9->1: all; 10->7: 7, 8, 10; 7->4: 4 to 8 and 10; 4->3 and 8->3: 3 to 8 and 10.
  ASSERT_EQ(loops.size(), 4u);
  EXPECT_EQ(loops[0].size(), 10u);
  EXPECT_EQ(loops[0].front(), 0u);
  EXPECT_THAT(loops[1], UnorderedElementsAre(2, 3, 4, 5, 6, 7, 9));
  EXPECT_EQ(loops[1].front(), 2u);
  EXPECT_THAT(loops[2], UnorderedElementsAre(3, 4, 5, 6, 7, 9));
  EXPECT_EQ(loops[2].front(), 3u);
  EXPECT_THAT(loops[3], UnorderedElementsAre(6, 7, 9));
  EXPECT_EQ(loops[3].front(), 6u);
}

TEST(NaturalLoops, OfOneBlockIsThatBlock) {
  EXPECT_THAT(natural_loops(graph({{1}, {1, 2}, {}}), {0}), ElementsAre(ElementsAre(1)));
}

TEST(NaturalLoops, AreNotCyclesWithTwoEntries) {
  EXPECT_THAT(natural_loops(graph({{1, 2}, {2}, {1}}), {0}), IsEmpty());
  EXPECT_THAT(natural_loops(graph({{1}, {2}, {1}}), {0, 2}), IsEmpty()) << "entered from elsewhere";
}

TEST(NaturalLoops, AreFoundWhereNoEntryLeads) {
  EXPECT_THAT(natural_loops(graph({{}, {2}, {3}, {2}}), {0}), ElementsAre(ElementsAre(2, 3)));
}

TEST(NaturalLoops, OfADeepGraphNeedNoStack) {
  std::vector<std::vector<u32>> next;
  for (u32 n = 0; n < 300'000; ++n) next.push_back({n + 1});
  next.push_back({0});
  const auto loops = natural_loops(graph(next), {0});
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].size(), 300'001u);
}

}  // namespace
}  // namespace pmusim::why
