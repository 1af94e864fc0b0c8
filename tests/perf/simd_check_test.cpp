// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "perf/attr_check.h"
#include "perf/simd_abi.h"

/// What the first stage of perf_event_open says of register masks (docs/sampled-registers.md), in both forms.
namespace pmusim::perf {
namespace {

int errno_of(const Result<Attr, KernelError>& result) {
  return result.ok() ? 0 : result.error().error_number;
}

struct Row {
  const char* what;
  std::function<void(Attr&)> set;
  int series, merged;  ///< errno, 0: accepted
};

/// Fields of one side under one name.
struct Side {
  RegisterSide side;
  u64 sample_type;
  u64 Attr::*general;
  u64 Attr::*vectors;
  u32 Attr::*predicates;
};
constexpr Side sides[] = {
    {RegisterSide::user, sample::REGS_USER, &Attr::sample_regs_user, &Attr::sample_simd_vec_reg_user,
     &Attr::sample_simd_pred_reg_user},
    {RegisterSide::interrupt, sample::REGS_INTR, &Attr::sample_regs_intr, &Attr::sample_simd_vec_reg_intr,
     &Attr::sample_simd_pred_reg_intr},
};

std::vector<Row> rows(const Side& side) {
  const auto general = [=](Attr& a) -> u64& { return a.*side.general; };
  const auto vectors = [=](Attr& a, unsigned qwords, u64 mask) {
    a.sample_simd_vec_reg_qwords = static_cast<u16>(qwords);
    a.*side.vectors = mask;
  };
  const auto predicates = [=](Attr& a, unsigned qwords, u32 mask) {
    a.sample_simd_pred_reg_qwords = static_cast<u16>(qwords);
    a.*side.predicates = mask;
  };
  const auto off = [](Attr& a) { a.sample_simd_regs_enabled = a.sample_simd_pred_reg_qwords = 0; };
  return {
      {"general registers may be none", [](Attr&) {}, 0, 0},
      {"every general and extended one", [=](Attr& a) { general(a) = 0x1ff'ffff'0fff; }, 0, 0},
      {"DS", [=](Attr& a) { general(a) = bit(12); }, EINVAL, EINVAL},
      {"bit 41 behind SSP", [=](Attr& a) { general(a) = bit(41); }, EINVAL, EINVAL},
      {"bit 63", [=](Attr& a) { general(a) = bit(63); }, EINVAL, EINVAL},
      {"every XMM", [=](Attr& a) { vectors(a, 2, 0xffff); }, 0, 0},
      {"every YMM", [=](Attr& a) { vectors(a, 4, 0xffff); }, 0, 0},
      {"every ZMM", [=](Attr& a) { vectors(a, 8, 0xffffffff); }, 0, 0},
      {"one XMM", [=](Attr& a) { vectors(a, 2, 1); }, 0, EINVAL},
      {"half of the YMM", [=](Attr& a) { vectors(a, 4, 0xff); }, 0, EINVAL},
      {"ZMM0 to ZMM15", [=](Attr& a) { vectors(a, 8, 0xffff); }, 0, EINVAL},
      {"XMM16 to XMM31, too", [=](Attr& a) { vectors(a, 2, 0xffffffff); }, 0, 0},
      {"a width without registers", [=](Attr& a) { vectors(a, 8, 0); }, 0, 0},
      {"registers of 3 words", [=](Attr& a) { vectors(a, 3, 0xffff); }, EINVAL, EINVAL},
      {"registers of 16 words", [=](Attr& a) { vectors(a, 16, 0xffffffff); }, EINVAL, EINVAL},
      {"vector 32", [=](Attr& a) { vectors(a, 8, low_bits(33)); }, EINVAL, EINVAL},
      {"every opmask", [=](Attr& a) { predicates(a, 1, 0xff); }, 0, 0},
      {"one opmask", [=](Attr& a) { predicates(a, 1, 1); }, 0, EINVAL},
      {"opmask 8", [=](Attr& a) { predicates(a, 1, 0x1ff); }, EINVAL, EINVAL},
      {"opmasks of 2 words", [=](Attr& a) { a.sample_simd_regs_enabled = 2, predicates(a, 2, 0xff); }, EINVAL,
       EINVAL},
      {"vectors without a width, but one of predicates",
       [=](Attr& a) { predicates(a, 1, 0), vectors(a, 0, 0xffff); }, 0, 0},
      {"legacy: no register", off, EINVAL, EINVAL},
      {"legacy: every XMM half", [=](Attr& a) { off(a), general(a) = bits(63, 32); }, 0, 0},
      {"legacy: one XMM half", [=](Attr& a) { off(a), general(a) = bit(45); }, 0, 0},
      {"legacy: bit 24", [=](Attr& a) { off(a), general(a) = bit(24); }, EINVAL, EINVAL},
      {"legacy: bit 31", [=](Attr& a) { off(a), general(a) = bit(31); }, EINVAL, EINVAL},
      {"legacy: masks that would be wrong",  // which only the merged form leaves alone
       [=](Attr& a) { off(a), general(a) = 1, vectors(a, 3, 0xffff); }, EINVAL, 0},
  };
}

Attr base(const Side& side) {
  Attr attr;
  attr.size = 176;
  attr.sample_type = side.sample_type;
  attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords = 1;
  return attr;
}

TEST(SimdCheck, EachRuleHasItsErrnoOnBothSidesInBothForms) {
  for (const Side& side : sides)
    for (const Row& row : rows(side)) {
      Attr attr = base(side);
      row.set(attr);
      EXPECT_EQ(errno_of(check_attr(attr, {.kernel = kernel_with(SimdAbi::series_v7)})), row.series)
          << row.what;
      EXPECT_EQ(errno_of(check_attr(attr, {.kernel = kernel_with(SimdAbi::merged)})), row.merged) << row.what;
    }
}

TEST(SimdCheck, ASideThatIsNotSampledIsNotLookedAt) {
  for (const Side& side : sides)
    for (const Row& row : rows(side)) {
      Attr attr = base(side);
      row.set(attr);
      attr.sample_type = 0;
      for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged})
        EXPECT_EQ(errno_of(check_attr(attr, {.kernel = kernel_with(simd)})), 0) << row.what;
    }
}

TEST(SimdCheck, MasksWithoutAnyWidthAreRefused) {
  for (const Side& side : sides) {
    Attr attr = base(side);
    attr.sample_simd_pred_reg_qwords = 0;
    attr.*side.vectors = 0xffff;
    EXPECT_EQ(errno_of(check_attr(attr, {.kernel = kernel_with(SimdAbi::merged)})), EINVAL);
    attr.*side.vectors = 0;
    attr.*side.predicates = 0xff;
    EXPECT_EQ(errno_of(check_attr(attr, {.kernel = kernel_with(SimdAbi::merged)})), EINVAL);
  }
}

/// In series v7 the field that enables is the predicates' width: there are no masks without a width.
TEST(SimdCheck, TheSharedFieldOfSeriesV7IsOneValue) {
  Attr attr = base(sides[1]);
  attr.sample_simd_pred_reg_qwords = 0;
  attr.sample_simd_pred_reg_intr = 0xff;
  const auto checked = check_attr(attr, {.kernel = kernel_with(SimdAbi::series_v7)});
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->sample_simd_pred_reg_qwords, 1u);
  attr.sample_simd_regs_enabled = 2;
  EXPECT_EQ(errno_of(check_attr(attr, {.kernel = kernel_with(SimdAbi::series_v7)})), EINVAL);
  EXPECT_EQ(errno_of(check_attr(base(sides[1]), {.kernel = kernel_with(SimdAbi::merged)})), 0);
}

TEST(SimdCheck, ArchitecturesThatCannotSaySoInTheirOwnWay) {
  struct Case {
    RegisterSampling sampling;
    u16 enabled;
    u64 general;
    int series, merged;
  };
  const Case cases[] = {
      {RegisterSampling::general, 0, 1, 0, 0},        {RegisterSampling::general, 1, 1, ENOSYS, EINVAL},
      {RegisterSampling::none, 0, 1, ENOSYS, ENOSYS}, {RegisterSampling::none, 1, 0, ENOSYS, EINVAL},
      {RegisterSampling::none, 0, 0, 0, 0},
  };
  for (const Case& c : cases) {
    Attr attr;
    attr.sample_type = sample::REGS_INTR;
    attr.sample_regs_intr = c.general;
    attr.sample_simd_regs_enabled = c.enabled;
    const auto checked = [&](SimdAbi simd) {
      return errno_of(check_attr(attr, {.kernel = kernel_with(simd), .register_sampling = c.sampling}));
    };
    EXPECT_EQ(checked(SimdAbi::series_v7), c.series) << c.enabled << ' ' << c.general;
    EXPECT_EQ(checked(SimdAbi::merged), c.merged) << c.enabled << ' ' << c.general;
  }
}

// The attribute of 5.1 as the caller's bytes.
TEST(SimdCheck, TheExampleAttributeIsReadFromItsBytes) {
  const auto image = [](std::initializer_list<u8> from_144) {
    std::vector<std::byte> bytes(176);
    Attr attr;
    attr.size = 176;
    attr.sample_type = sample::REGS_INTR;
    std::memcpy(bytes.data(), &attr, 144);
    std::size_t at = 144;
    for (const u8 byte : from_144) bytes[at++] = std::byte{byte};
    return bytes;
  };
  auto series = image({1, 0, 8, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0});
  const auto read = copy_attr(series, Kernel::v7_1_simd);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->sample_simd_vec_reg_qwords, 8u);
  EXPECT_EQ(read->sample_simd_pred_reg_qwords, 1u);
  EXPECT_EQ(read->sample_simd_pred_reg_intr, 1u);
  EXPECT_EQ(read->sample_simd_vec_reg_intr, 3u);
  EXPECT_EQ(errno_of(check_attr(*read, {.kernel = kernel_with(SimdAbi::series_v7)})), 0);
  auto merged =
      image({1, 0, 1, 0, 8, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0});
  const auto whole = copy_attr(merged, Kernel::v7_4);
  ASSERT_TRUE(whole);
  EXPECT_EQ(errno_of(check_attr(*whole, {.kernel = kernel_with(SimdAbi::merged)})), 0);
  EXPECT_EQ(whole->sample_simd_vec_reg_qwords, 8u);
}

TEST(SimdCheck, OnlyTheMergedFormLooksAtTheReservedField) {
  Attr attr = base(sides[1]);
  attr.reserved_4 = 1;
  EXPECT_EQ(errno_of(check_attr(attr, {.kernel = kernel_with(SimdAbi::series_v7)})), 0);
  EXPECT_EQ(errno_of(check_attr(attr, {.kernel = kernel_with(SimdAbi::merged)})), EINVAL);
}

// --- the last stage

TEST(SimdCheck, APmuThatCannotIsNamedByTheLastStage) {
  const PmuCapabilities plain, all{.extended_registers = true, .simd_registers = true};
  Attr simd = base(sides[1]), ssp = simd, legacy;
  ssp.sample_regs_intr = register_mask::SSP;
  legacy.sample_type = sample::REGS_INTR;
  legacy.sample_regs_intr = bit(32);
  for (const SimdAbi abi : {SimdAbi::series_v7, SimdAbi::merged})
    for (const Attr& attr : {simd, ssp, legacy}) {
      const auto refused = check_capabilities(attr, plain, {.kernel = kernel_with(abi)});
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().error_number, EOPNOTSUPP);
      EXPECT_TRUE(check_capabilities(attr, all, {.kernel = kernel_with(abi)}));
    }
}

TEST(SimdCheck, WhatIsNotSampledNeedsACapabilityInSeriesV7Only) {
  Attr simd, legacy;
  simd.sample_simd_regs_enabled = 1;
  legacy.sample_regs_user = bit(63);
  for (const Attr& attr : {simd, legacy}) {
    EXPECT_FALSE(check_capabilities(attr, {}, {.kernel = kernel_with(SimdAbi::series_v7)}));
    EXPECT_TRUE(check_capabilities(attr, {}, {.kernel = kernel_with(SimdAbi::merged)}));
  }
}

// --- what each mask takes values from

TEST(NeededRegisters, FollowWidthAndMasksOfTheSidesThatAreSampled) {
  using namespace register_set;
  struct Case {
    u64 general;
    u16 qwords;
    u64 vectors;
    u32 predicates;
    u32 expected;
  };
  const Case cases[] = {
      {0, 2, 0xffff, 0, XMM},
      {0, 4, 0xffff, 0, XMM | YMM_HIGH},
      {0, 8, 3, 1, XMM | YMM_HIGH | ZMM_HIGH | OPMASK},
      {1, 8, 0xffffffff, 0, GENERAL | XMM | YMM_HIGH | ZMM_HIGH | HI16_ZMM},
      {bit(24) | bit(40), 8, 0, 0, EGPR | SSP},
      {bits(63, 32), 0, 0, 0, EGPR | SSP},  // numbers of R24 to R31 and SSP, not XMM
  };
  for (const Case& c : cases) {
    Attr attr = base(sides[1]);
    attr.sample_regs_intr = c.general;
    attr.sample_simd_vec_reg_qwords = c.qwords;
    attr.sample_simd_vec_reg_intr = c.vectors;
    attr.sample_simd_pred_reg_intr = c.predicates;
    EXPECT_EQ(needed_registers(attr, RegisterSide::interrupt), c.expected);
    EXPECT_EQ(needed_registers(attr, RegisterSide::user), 0u);
    attr.sample_type = 0;
    EXPECT_EQ(needed_registers(attr), 0u);
  }
  Attr legacy;
  legacy.sample_type = sample::REGS_USER;
  legacy.sample_regs_user = bit(40) | bit(8);
  EXPECT_EQ(needed_registers(legacy), GENERAL | XMM);
}

TEST(SimdAbiOfAnImage, IsKnownByTheFieldThatIsZeroInTheOther) {
  Attr merged;
  merged.sample_simd_regs_enabled = 1;
  for (const u16 qwords : {u16{2}, u16{4}, u16{8}}) {
    merged.sample_simd_vec_reg_qwords = qwords;
    EXPECT_EQ(simd_abi_of(merged), SimdAbi::merged);
    EXPECT_EQ(simd_abi_of(to_series_v7(merged)), SimdAbi::series_v7);
  }
  merged.sample_simd_vec_reg_qwords = 0;
  merged.sample_simd_pred_reg_qwords = 1;
  EXPECT_EQ(simd_abi_of(merged), SimdAbi::merged);
  EXPECT_EQ(simd_abi_of(to_series_v7(merged)), SimdAbi::series_v7);
}

}  // namespace
}  // namespace pmusim::perf
