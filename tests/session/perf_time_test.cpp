// SPDX-License-Identifier: MIT
#include "session/perf_time.h"

#include <gtest/gtest.h>

namespace pmusim {
namespace {

TEST(PerfTime, TheFirstCycleOfATimeIsTheFirstInWhichItHasCome) {
  constexpr perf::TscToNs slow{.mult = 4'194'304'007, .shift = 31}, fast{.mult = 715'827'882, .shift = 31},
      later{.mult = 1'398'101, .shift = 22, .zero = 5};
  constexpr Clock same{}, slow_core{.numerator = 29, .denominator = 1},
      fast_core{.numerator = 24, .denominator = 35};
  for (const perf::TscToNs& time : {slow, fast, later})
    for (const Clock& tsc : {same, slow_core, fast_core})
      for (const u64 ns : {u64{100}, u64{1'000'000}, u64{1'000'001}, u64{999'999'999'999}, u64{1} << 50}) {
        const u64 cycle = first_cycle_at(ns, time, tsc);
        EXPECT_GE(time(tsc.ticks(cycle)), ns);
        EXPECT_LT(time(tsc.ticks(cycle - 1)), ns);
      }
}

}  // namespace
}  // namespace pmusim
