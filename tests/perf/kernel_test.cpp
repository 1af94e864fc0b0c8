// SPDX-License-Identifier: MIT
#include "pmusim/perf/kernel.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "perf/attr_check.h"

namespace pmusim::perf {
namespace {

TEST(Kernel, EveryNameFindsItsKernel) {
  for (const std::string_view name : kernel_names()) {
    const auto kernel = find_kernel(name);
    ASSERT_TRUE(kernel) << name;
    EXPECT_EQ(name_of(*kernel), name);
  }
}

TEST(Kernel, AnUnknownNameIsAnsweredWithThoseThatThereAre) {
  const auto kernel = find_kernel("2.6");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message,
            "kernel '2.6': none of those that can be emulated: 6.12, 6.14, 6.15, 6.16, 6.19, 7.0, 7.1, "
            "7.1-simd-v7, 7.4");
}

TEST(Kernel, AChangeStaysInLaterReleases) {
  EXPECT_FALSE(has(Kernel::v6_12, Change::drain_in_record_order));
  EXPECT_TRUE(has(Kernel::v6_14, Change::drain_in_record_order));
  EXPECT_TRUE(has(Kernel::v7_4, Change::drain_in_record_order));
  EXPECT_FALSE(has(Kernel::v6_15, Change::group_throttling));
  EXPECT_TRUE(has(Kernel::v6_16, Change::group_throttling));
  EXPECT_EQ(first_release_with(Change::group_throttling), "Linux 6.16");
}

TEST(Kernel, AFixCanReachTheStableSeriesBeforeYoungerReleases) {
  EXPECT_TRUE(has(Kernel::v6_12, Change::user_branches_start_in_user_code));
  EXPECT_FALSE(has(Kernel::v6_14, Change::user_branches_start_in_user_code));
  EXPECT_TRUE(has(Kernel::v7_1, Change::user_branches_start_in_user_code));
}

TEST(Kernel, FieldsThatItDoesNotKnowAreTooBig) {
  Attr attr;
  attr.sample_type = sample::REGS_INTR;
  attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords = 1;
  attr.sample_simd_vec_reg_qwords = 2;
  attr.sample_simd_vec_reg_intr = 0xffff;
  const auto checked = check_attr(attr, {.kernel = Kernel::v6_19});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().error_number, E2BIG);
  EXPECT_TRUE(check_attr(attr, {.kernel = Kernel::v7_1_simd}));
  EXPECT_TRUE(check_attr(attr, {.kernel = Kernel::v7_4}));
}

}  // namespace
}  // namespace pmusim::perf
