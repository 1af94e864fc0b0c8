// SPDX-License-Identifier: MIT
#include "core/memory_hierarchy.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/naive_cache.h"

namespace pmusim {
namespace {

using test::NaiveCache;

class Shapes : public testing::TestWithParam<std::pair<unsigned, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(SetsAndWays, Shapes,
                         testing::Values(std::pair(1, 1), std::pair(1, 8), std::pair(16, 4), std::pair(64, 1),
                                         std::pair(12, 3), std::pair(7, 5)));

TEST_P(Shapes, ASetAssociativeTableHitsWhereANaiveOneDoes) {
  const auto [sets, ways] = GetParam();
  SetAssociative<u64> table(sets, ways);
  NaiveCache naive(sets, ways);
  std::mt19937_64 random(sets * 100 + ways);
  for (int n = 0; n < 20000; ++n) {
    const u64 key = random() % (3 * sets * ways);
    const u64* found = table.find(key);
    ASSERT_EQ(found != nullptr, naive.touch(key)) << "access " << n;
    if (found != nullptr) {
      ASSERT_EQ(*found, key * 3);
    } else {
      table.insert(key, key * 3);
    }
  }
}

CoreParameters small() {
  CoreParameters p;
  p.l1d = {1024, 2, 64, 5};
  p.l1i = {1024, 2, 64, 4};
  p.l2 = {4096, 4, 64, 14};
  p.l3 = {12 * 1024, 3, 64, 42};
  p.memory_latency_cycles = 200;
  p.dtlb_entries = 4, p.dtlb_ways = 2;
  p.stlb_entries = 12, p.stlb_ways = 3;
  return p;
}

TEST(MemoryHierarchy, LevelsAreThoseOfNaiveCachesOneBehindTheOther) {
  MemoryHierarchy hierarchy(small());
  NaiveCache l1(8, 2), l2(16, 4), l3(64, 3), dtlb(2, 2), stlb(4, 3);
  std::mt19937_64 random(1);
  Quantities quantities{};
  u64 cycle = 0;
  for (int n = 0; n < 50000; ++n) {
    const u64 address = random() % 3 == 0 ? random() % 0x20000 : random() % 0x800;
    const u64 line = address / 64, page = address / 4096;
    const CacheLevel level = l1.touch(line)   ? CacheLevel::l1
                             : l2.touch(line) ? CacheLevel::l2
                             : l3.touch(line) ? CacheLevel::l3
                                              : CacheLevel::memory;
    const TlbLevel tlb = dtlb.touch(page) ? TlbLevel::l1 : stlb.touch(page) ? TlbLevel::l2 : TlbLevel::walk;
    const auto answer = hierarchy.access({.address = address, .cycle = cycle}, quantities);
    ASSERT_EQ(answer.level, level) << "access " << n;
    ASSERT_EQ(answer.tlb, tlb) << "access " << n;
    cycle = answer.ready_cycle;  // one at a time: no fill buffer is ever hit
  }
}

TEST(MemoryHierarchy, LatenciesAreThoseOfTheLevelThatAnswers) {
  MemoryHierarchy hierarchy(small());
  Quantities quantities{};
  EXPECT_EQ(hierarchy.access({.address = 0, .cycle = 1000}, quantities).ready_cycle, 1000 + 7 + 30 + 200u);
  EXPECT_EQ(hierarchy.access({.address = 8, .cycle = 2000}, quantities).ready_cycle, 2000 + 5u);
  for (const u64 same_set : {0x200, 0x400})
    hierarchy.access({.address = same_set, .cycle = 2000}, quantities);
  EXPECT_EQ(hierarchy.access({.address = 0, .cycle = 3000}, quantities).ready_cycle, 3000 + 14u);
}

TEST(MemoryHierarchy, AMissBeyondTheFillBuffersWaitsForOne) {
  CoreParameters p = small();
  p.outstanding_misses = 2;
  MemoryHierarchy hierarchy(p);
  Quantities quantities{};
  hierarchy.access({.address = 0, .cycle = 0}, quantities);  // the page is in the DTLB from here on
  EXPECT_EQ(hierarchy.access({.address = 0x040, .cycle = 1000}, quantities).ready_cycle, 1200u);
  EXPECT_EQ(hierarchy.access({.address = 0x080, .cycle = 1001}, quantities).ready_cycle, 1201u);
  EXPECT_EQ(hierarchy.access({.address = 0x0C0, .cycle = 1002}, quantities).ready_cycle, 1400u);
}

// L1D_PEND_MISS.FB_FULL_PERIODS.
TEST(MemoryHierarchy, TimesOfFullFillBuffersAreCounted) {
  CoreParameters p = small();
  p.outstanding_misses = 2;
  MemoryHierarchy hierarchy(p);
  Quantities quantities{};
  const auto periods = [&] { return quantities[static_cast<unsigned>(Quantity::fill_buffers_full_periods)]; };
  const auto miss = [&](u64 line, u64 cycle) {
    hierarchy.access({.address = 64 * line, .cycle = cycle}, quantities);
  };
  miss(0, 1000), miss(1, 1000);
  EXPECT_EQ(periods(), 0u);
  miss(2, 1000), miss(3, 1001);
  EXPECT_EQ(periods(), 1u);
  miss(4, 9000), miss(5, 9000), miss(6, 9001);
  EXPECT_EQ(periods(), 2u);
}

// L2_RQSTS: its unit masks are bits, and all kinds together are all requests.
TEST(MemoryHierarchy, RequestsOfL2AreCountedByWhatIsAskedFor) {
  MemoryHierarchy hierarchy(small());
  Quantities quantities{};
  const auto count = [&](Quantity which) { return quantities[static_cast<unsigned>(which)]; };
  hierarchy.access({.address = 0x1000, .cycle = 0}, quantities);
  hierarchy.access({.address = 0x2000, .kind = AccessKind::store, .cycle = 500}, quantities);
  hierarchy.fetch(0x1000, 1000, quantities);
  hierarchy.fetch(0x3000, 2000, quantities);
  EXPECT_EQ(count(Quantity::l2_data_reads), 1u);
  EXPECT_EQ(count(Quantity::l2_data_read_misses), 1u);
  EXPECT_EQ(count(Quantity::l2_ownership_reads), 1u);
  EXPECT_EQ(count(Quantity::l2_ownership_read_misses), 1u);
  EXPECT_EQ(count(Quantity::l2_code_reads), 2u);
  EXPECT_EQ(count(Quantity::l2_code_read_misses), 1u);
  EXPECT_EQ(count(Quantity::l2_requests), 4u);
  EXPECT_EQ(count(Quantity::l2_misses), 3u);
}

// ICACHE_TAG.STALLS and ICACHE_DATA.STALLS.
TEST(MemoryHierarchy, FetchWaitsForTranslationsAndForLines) {
  MemoryHierarchy hierarchy(small());
  Quantities quantities{};
  const u64 ready = hierarchy.fetch(0x1000, 1000, quantities).ready_cycle;
  EXPECT_EQ(quantities[static_cast<unsigned>(Quantity::itlb_stall_cycles)], 7u + 30);
  EXPECT_EQ(quantities[static_cast<unsigned>(Quantity::l1i_stall_cycles)], ready - 1000 - 37);
}

TEST(MemoryHierarchy, WithoutAnL3TheL2IsTheLastLevel) {
  CoreParameters p = small();
  p.l3 = {};
  MemoryHierarchy hierarchy(p);
  Quantities quantities{};
  EXPECT_EQ(hierarchy.access({.address = 0x1000, .cycle = 0}, quantities).level, CacheLevel::memory);
  EXPECT_EQ(hierarchy.fetch(0x1000, 500, quantities).level, CacheLevel::l2);
  EXPECT_EQ(quantities[static_cast<unsigned>(Quantity::llc_references)], 2u);
  EXPECT_EQ(quantities[static_cast<unsigned>(Quantity::llc_misses)], 1u);
}

TEST(MemoryHierarchy, CodeAndDataShareTheOuterLevels) {
  MemoryHierarchy hierarchy(small());
  Quantities quantities{};
  hierarchy.access({.address = 0x1000, .kind = AccessKind::store, .cycle = 0}, quantities);
  EXPECT_EQ(hierarchy.fetch(0x1000, 500, quantities).level, CacheLevel::l2);
  EXPECT_EQ(hierarchy.fetch(0x1000, 600, quantities).level, CacheLevel::l1);
}

TEST(MemoryHierarchy, AFlushedLineComesFromMemoryAndOthersStay) {
  MemoryHierarchy hierarchy(small());
  Quantities quantities{};
  hierarchy.access({.address = 0x1000, .cycle = 0}, quantities);
  hierarchy.access({.address = 0x2000, .cycle = 500}, quantities);
  hierarchy.fetch(0x1000, 1000, quantities);
  hierarchy.flush(0x1020);
  EXPECT_EQ(hierarchy.access({.address = 0x2000, .cycle = 2000}, quantities).level, CacheLevel::l1);
  EXPECT_EQ(hierarchy.fetch(0x1000, 2500, quantities).level, CacheLevel::memory);
}

}  // namespace
}  // namespace pmusim
