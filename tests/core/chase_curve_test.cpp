// SPDX-License-Identifier: MIT
// What a chain of loads takes at every footprint, against measurements of the parts that the models are.
#include <gtest/gtest.h>

#include "tests/core/chase.h"

namespace pmusim::chase_curve_test {
namespace {

using namespace test;

constexpr u64 mebibyte = 1024 * 1024, start = u64{1} << 32;

/// Cycles per access that InstLatX64's pointer chase shows on the part (docs/core-model.md). Lines in random
/// order within pages, one page after the other, but for the last. 0: not measured, or an exception listed
/// there.
struct Measured {
  std::string_view model;
  double l1, l2, l3;
  double each_line;    ///< footprints of memory
  double each_fourth;  ///< every 256 bytes
  double anywhere;     ///< pages in random order, too
  u64 mebibytes;       ///< the footprint of the last three
};
constexpr Measured measured[] = {
    {"core2", 3, 15.5, 0, 127, 236, 248, 64},          {"penryn", 3, 16, 0, 143, 271, 278, 128},
    {"nehalem", 4, 10, 43.5, 184, 185, 221, 128},      {"sandybridge", 4, 12, 34, 226, 229, 263, 128},
    {"ivybridge", 4, 12, 34.5, 239, 240, 276, 128},    {"haswell", 4, 12, 40, 246, 247, 279, 128},
    {"broadwell", 4, 13.5, 43.5, 148, 235, 358, 4096}, {"skylake", 4, 12, 45, 173, 173, 213, 128},
    {"skylake-x", 4, 14, 76, 289, 291, 348, 512},      {"cannonlake", 4, 12, 45, 172, 253, 276, 64},
    {"tigerlake", 5, 14, 72, 220, 316, 337, 128},      {"rocketlake", 5, 13, 57, 172, 272, 318, 256},
    {"goldencove", 5, 15, 65, 305, 307, 352, 512},     {"redwoodcove", 5, 16, 69.5, 306, 358, 0, 512},
    {"arrowlake-h", 4, 16, 0, 220, 423, 464, 512},     {"bonnell", 3, 17.5, 0, 105, 183, 268, 64},
    {"silvermont", 3, 14, 0, 107, 201, 265, 64},       {"goldmont", 3, 17, 0, 0, 195, 0, 64},
    {"goldmont-plus", 3, 19, 0, 99, 182, 0, 64},       {"tremont", 3, 19.5, 0, 107, 177, 0, 64},
    {"gracemont", 3, 19.5, 55, 0, 0, 321, 512},        {"crestmont", 3, 19.5, 55.5, 161, 332, 333, 512},
    {"skymont", 4, 19.5, 57.5, 157, 282, 0, 512},
};

std::string name_of(const testing::TestParamInfo<Measured>& info) {
  std::string name;
  for (const char c : info.param.model)
    if (c != '-') name += c;
  return name;
}

class ChaseCurve : public testing::TestWithParam<Measured> {
 protected:
  const CpuModel model = find_cpu_model(GetParam().model).value();
  Chase chase{model};

  // The second round over a footprint that a cache holds.
  double in_cache(u64 bytes) {
    const std::vector<u64> addresses = random_in_pages(start, bytes, line_bytes);
    chase.cycles_per_access(addresses);
    return chase.cycles_per_access(addresses);
  }
  static void expect_near(double modelled, double on_silicon, std::string_view what) {
    if (on_silicon == 0) return;
    EXPECT_NEAR(modelled, on_silicon, 0.15 * on_silicon) << what;
  }
};
INSTANTIATE_TEST_SUITE_P(Cores, ChaseCurve, testing::ValuesIn(measured), name_of);

TEST_P(ChaseCurve, TakesWhatWasMeasuredInEachCache) {
  expect_near(in_cache(model.core.l1d.bytes / 2), GetParam().l1, "L1");
  expect_near(in_cache(std::max(model.core.l1d.bytes * 2, model.core.l2.bytes / 2)), GetParam().l2, "L2");
  if (model.core.l3.bytes != 0)
    expect_near(in_cache(std::max(model.core.l2.bytes * 3 / 2, model.core.l3.bytes / 8)), GetParam().l3,
                "L3");
}

TEST_P(ChaseCurve, TakesWhatWasMeasuredInMemory) {
  constexpr u64 bytes = 4 * mebibyte;
  expect_near(chase.cycles_per_access(random_in_pages(start, bytes, line_bytes)), GetParam().each_line,
              "every line");
  expect_near(chase.cycles_per_access(random_in_pages(start + bytes, bytes, 4 * line_bytes)),
              GetParam().each_fourth, "every fourth line");
}

TEST_P(ChaseCurve, TakesWhatWasMeasuredAnywhereInMemory) {
  const u64 bytes = GetParam().mebibytes * mebibyte;
  chase.cycles_per_access(ascending(start, bytes, page_bytes));  // its page tables are where they fit
  expect_near(chase.cycles_per_access(anywhere(start, bytes, 8192)), GetParam().anywhere, "anywhere");
}

// What hides how much is the prefetchers' work: without them each line costs what memory does.
TEST_P(ChaseCurve, IsHiddenByPrefetchersWhereItGoesUpwards) {
  CpuModel without = model;
  without.policies.prefetchers_off = 15;
  const std::vector<u64> upwards = ascending(start, 4 * mebibyte, line_bytes);
  const double on = chase.cycles_per_access(upwards), off = Chase(without).cycles_per_access(upwards);
  EXPECT_GE(off, model.core.memory_latency_cycles);
  EXPECT_LT(on, off / 4);
}

}  // namespace
}  // namespace pmusim::chase_curve_test
