// SPDX-License-Identifier: MIT
#include "core/cycle_marks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <vector>

#include "core/busy_span.h"

namespace pmusim {
namespace {

TEST(CycleMarks, AreThoseOfAListOfAllCycles) {
  CycleMarks<2> marks;
  std::vector<std::array<bool, 2>> naive(1 << 20);
  std::mt19937_64 random(7);
  u64 taken = 0;
  for (u64 now = 0; now < 100'000; now += random() % 40) {
    for (; taken < now / 64; ++taken) {
      const auto cycles = marks.take(taken);
      for (u64 cycle = 0; cycle < 64; ++cycle)
        for (const unsigned thing : {0, 1})
          ASSERT_EQ((cycles[thing] & bit(static_cast<unsigned>(cycle))) != 0,
                    naive[64 * taken + cycle][thing])
              << 64 * taken + cycle;
    }
    const auto thing = static_cast<unsigned>(random() % 2);
    const CycleSpan span{now + random() % 100, now + random() % 4000};
    marks.mark(thing, span);
    for (u64 cycle = span.begin; cycle < span.end; ++cycle) naive[cycle][thing] = true;
  }
}

TEST(CycleMarks, OfASpanBeyondTheWindowAreThere) {
  CycleMarks<1> marks;
  marks.mark(0, {100, 1'000'003});
  u64 cycles = 0;
  for (u64 word = 0; word < marks.end_word(); ++word)
    cycles += static_cast<u64>(std::popcount(marks.take(word)[0]));
  EXPECT_EQ(cycles, 1'000'003u - 100);
}

TEST(CycleMarks, AreGoneWhenCleared) {
  CycleMarks<1> marks;
  marks.mark(0, {10, 5000});
  marks.take(0);
  marks.clear();
  EXPECT_EQ(marks.take(1)[0], 0u);
  EXPECT_EQ(marks.end_word(), 0u);
}

// Spans in the order in which they begin, against counting them cycle by cycle.
TEST(CrowdedSpan, CountsTheCyclesWithAtLeastSoMany) {
  CrowdedSpan<4> four;
  std::vector<unsigned> naive(1 << 18);
  std::mt19937_64 random(3);
  u64 counted = 0, begin = 0;
  for (int n = 0; n < 5000; ++n) {
    begin += random() % 30;
    const u64 end = begin + random() % 200;
    counted += four.cover(begin, end);
    for (u64 cycle = begin; cycle < end; ++cycle) ++naive[cycle];
  }
  EXPECT_EQ(counted, static_cast<u64>(std::ranges::count_if(naive, [](unsigned n) { return n >= 4; })));
}

}  // namespace
}  // namespace pmusim
