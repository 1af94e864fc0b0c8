// SPDX-License-Identifier: MIT
#include "arch/pebs_fragments.h"

#include <gtest/gtest.h>

#include <vector>

namespace pmusim::pebs {
namespace {

constexpr u32 depth = 32, counters_bytes_of_two = counters_bytes(2, false);
constexpr u64 groups[] = {cfg_c::AUX, cfg_c::GPRS, cfg_c::XMM | cfg_c::YMMH, cfg_c::LBR,
                          cfg_c::GP | cfg_c::FIXED | cfg_c::ALLOW_IN_RECORD};

std::vector<ArchFragment> split(u64 word, u32 longest) {
  const ArchFragments fragments(word, depth, counters_bytes_of_two, longest);
  return {fragments.begin(), fragments.end()};
}

unsigned groups_in(u64 word) {
  unsigned count = (word & header::BASIC) != 0;
  for (const u64 group : groups) count += (word & group) != 0;
  return count;
}

/// Every choice of groups with every length around the sizes that matter.
template <class Visit>
void for_each_record(Visit visit) {
  for (unsigned choice = 0; choice < 32; ++choice) {
    u64 word = header::BASIC | header::MODE_64;
    for (unsigned i = 0; i < 5; ++i) word |= (choice >> i & 1) != 0 ? groups[i] : 0;
    for (u32 longest = 0; longest <= 1600; longest += 16) visit(word, longest);
  }
}

TEST(ArchFragments, ARecordStaysInOnePieceUnlessAskedOtherwise) {
  const u64 word = header::BASIC | header::MODE_64 | cfg_c::AUX | cfg_c::GPRS | cfg_c::LBR;
  const auto whole = split(word, 0);
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0].word, word | 1104);
}

TEST(ArchFragments, AreCutBetweenGroupsWhereTheNextDoesNotFit) {
  const auto parts = split(header::BASIC | header::MODE_64 | cfg_c::AUX | cfg_c::GPRS | cfg_c::LBR, 200);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].word, header::BASIC | header::MODE_64 | header::CONTINUED | cfg_c::AUX | 128);
  EXPECT_EQ(parts[1].word, header::MODE_64 | header::CONTINUED | cfg_c::GPRS | 176);
  EXPECT_EQ(parts[2].word, header::MODE_64 | cfg_c::LBR | 832);
  EXPECT_EQ(parts[2].offset, 304u);
}

TEST(ArchFragments, AnAllowedCounterAloneMakesNoFragment) {
  const auto parts = split(header::BASIC | cfg_c::ALLOW_IN_RECORD, 16);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].bytes, 64u);
}

TEST(ArchFragments, OnlyTheFirstHasTheBasicGroupAndTheLastEnds) {
  for_each_record([](u64 word, u32 longest) {
    const auto parts = split(word, longest);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      EXPECT_EQ((parts[i].word & header::BASIC) != 0, i == 0);
      EXPECT_EQ((parts[i].word & header::CONTINUED) != 0, i + 1 < parts.size());
      EXPECT_FALSE(header::is_null(parts[i].word));
    }
  });
}

TEST(ArchFragments, HaveEveryGroupOnceAndInOrderAndFollowEachOther) {
  for_each_record([](u64 word, u32 longest) {
    u64 seen = 0;
    u32 offset = 0;
    for (const ArchFragment& part : split(word, longest)) {
      const u64 own = part.word & (bits(62, 35) | header::BASIC);
      EXPECT_EQ(seen & own, 0u);
      seen |= own;
      EXPECT_EQ(part.offset, offset);
      EXPECT_EQ(part.word & header::SIZE, part.bytes);
      EXPECT_EQ(part.bytes % 16, 0u);
      offset += part.bytes;
    }
    EXPECT_EQ(seen, word & (bits(62, 35) | header::BASIC));
    EXPECT_EQ(ArchFragments(word, depth, counters_bytes_of_two, longest).bytes(), offset);
  });
}

TEST(ArchFragments, AreLongerThanAskedOnlyWithASingleGroup) {
  for_each_record([](u64 word, u32 longest) {
    if (longest == 0) return;
    for (const ArchFragment& part : split(word, longest))
      EXPECT_TRUE(part.bytes <= longest || groups_in(part.word) == 1) << std::hex << part.word;
  });
}

}  // namespace
}  // namespace pmusim::pebs
