// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "perf/attr_check.h"
#include "pmusim/perf/abi.h"

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
            "7.1-simd-v7, 7.3, 7.4");
}

TEST(Kernel, AChangeStaysInLaterReleases) {
  EXPECT_FALSE(has(Kernel::v6_12, change::group_throttling));
  EXPECT_FALSE(has(Kernel::v6_15, change::group_throttling));
  EXPECT_TRUE(has(Kernel::v6_16, change::group_throttling));
  EXPECT_TRUE(has(Kernel::v7_4, change::group_throttling));
  EXPECT_EQ(first_release_with(change::group_throttling), "Linux 6.16");
}

// 7.3 has been seen as it is released: the series for SIMD registers is not in it.
TEST(Kernel, Linux7_3SamplesNoSimdRegisters) {
  EXPECT_EQ(simd_abi(Kernel::v7_1_simd), SimdAbi::series_v7);
  EXPECT_EQ(simd_abi(Kernel::v7_3), SimdAbi::none);
  EXPECT_EQ(simd_abi(Kernel::v7_4), SimdAbi::merged);
  EXPECT_EQ(kernel_with(SimdAbi::none), Kernel::v7_3);
  EXPECT_FALSE(has(Kernel::v7_1_simd, change::kernel_registers_hidden));
}

TEST(Kernel, AFixCanReachTheStableSeriesBeforeYoungerReleases) {
  constexpr Change fix{.since = Kernel::v7_1, .in_stable_6_12 = true};
  EXPECT_TRUE(has(Kernel::v6_12, fix));
  EXPECT_FALSE(has(Kernel::v6_14, fix));
  EXPECT_TRUE(has(Kernel::v7_1, fix));
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

// Byte by byte: what a release does not know it cannot tell from something that matters.
TEST(Kernel, EveryByteBehindItsAttributeIsTooBig) {
  constexpr std::size_t first_new = 144, bytes = 176;
  for (std::size_t at = first_new; at < bytes; ++at) {
    std::vector<std::byte> user(bytes);
    const u32 size = bytes;
    std::memcpy(user.data() + offsetof(Attr, size), &size, sizeof size);
    user[at] = std::byte{1};
    Attr attr;
    std::memcpy(&attr, user.data(), sizeof attr);
    const auto checked = check_attr(attr, {.kernel = Kernel::v7_1});
    ASSERT_FALSE(checked) << at;
    EXPECT_EQ(checked.error().error_number, E2BIG) << at;
    const auto copied = copy_attr(user, Kernel::v7_1);
    ASSERT_FALSE(copied) << at;
    EXPECT_EQ(copied.error().error_number, E2BIG) << at;
    u32 known;
    std::memcpy(&known, user.data() + offsetof(Attr, size), sizeof known);
    EXPECT_EQ(known, first_new) << at;
  }
}

// <linux/perf_event.h>: PERF_ATTR_SIZE_VER8 is 136, VER9 144, VER10 of the series for SIMD registers 176. One
// byte more than a release knows is too big, and the size that it answers is its own.
TEST(Kernel, AnAttributeIsAsLongAsTheRelease) {
  const std::pair<Kernel, u32> lengths[] = {{Kernel::v6_12, 136},
                                            {Kernel::v7_1, 144},
                                            {Kernel::v7_1_simd, 176},
                                            {Kernel::v7_3, 144},
                                            {Kernel::v7_4, 176}};
  for (const auto& [kernel, known] : lengths) {
    std::vector<std::byte> user(known + 8);
    const u32 size = known + 8;
    std::memcpy(user.data() + offsetof(Attr, size), &size, sizeof size);
    EXPECT_TRUE(copy_attr(user, kernel)) << name_of(kernel);
    user[known] = std::byte{1};
    const auto copied = copy_attr(user, kernel);
    ASSERT_FALSE(copied) << name_of(kernel);
    EXPECT_EQ(copied.error().error_number, E2BIG) << name_of(kernel);
    u32 answered;
    std::memcpy(&answered, user.data() + offsetof(Attr, size), sizeof answered);
    EXPECT_EQ(answered, known) << name_of(kernel);
  }
}

TEST(Kernel, Config4IsTooBigForLinux6_12) {
  Attr attr;
  attr.config4 = 1;
  EXPECT_EQ(check_attr(attr, {.kernel = Kernel::v6_12}).error().error_number, E2BIG);
  EXPECT_TRUE(check_attr(attr, {.kernel = Kernel::v7_3}));
}

}  // namespace
}  // namespace pmusim::perf
