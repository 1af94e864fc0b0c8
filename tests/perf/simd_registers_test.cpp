#include <gtest/gtest.h>

#include <cstring>

#include "pmusim/perf/attr_check.h"
#include "pmusim/perf/sample_output.h"

/// The worked examples of xsave-simd.md section 5, in both forms of the ABI.
namespace pmusim::perf {
namespace {

struct Scene {
  Attr attr;
  SampleData data;
  std::vector<u64> vectors, predicates, egpr;
  bool kernel_thread = false;

  Scene() {
    for (u64 i = 0; i < 32 * 8; ++i) vectors.push_back(0x1000 + i);
    for (u64 i = 0; i < 8; ++i) predicates.push_back(0x2000 + i);
    for (u64 i = 0; i < 16; ++i) egpr.push_back(0x3000 + i);
    data.extended = {vectors, predicates, egpr, 0x4000};
    attr.sample_simd_regs_enabled = 1;
  }

  std::vector<u64> write(SimdAbi simd) const {
    Event event;
    event.attr = attr;
    event.layout = make_sample_layout(attr, simd);
    InterruptFrame frame;
    frame.registers.rip = 0x401000;
    frame.registers[Gpr::rax] = 0xa;
    frame.registers[Gpr::rsp] = 0x7ff0;
    SampleEnvironment environment;
    if (!kernel_thread) environment.user_registers = &frame.registers;
    environment.user_extended = data.extended;
    const Sample sample{event, data, frame, environment};
    const SampleSize size = sample_size(sample);
    std::vector<u64> words(size.bytes / 8);
    const std::byte* end = write_sample(reinterpret_cast<std::byte*>(words.data()), sample, size);
    EXPECT_EQ(static_cast<std::size_t>(end - reinterpret_cast<std::byte*>(words.data())), size.bytes);
    return words;
  }
};

TEST(SimdRegisters, TwoZmmAndOneOpmaskInSeriesV7) {  // 5.1
  Scene scene;
  scene.attr.sample_type = sample::IP | sample::REGS_INTR;
  scene.attr.sample_regs_intr = 0x101;
  scene.attr.sample_simd_vec_reg_intr = 3;
  scene.attr.sample_simd_vec_reg_qwords = 8;
  scene.attr.sample_simd_pred_reg_intr = 1;
  scene.attr.sample_simd_pred_reg_qwords = 1;
  const auto words = scene.write(SimdAbi::series_v7);
  ASSERT_EQ(words.size() * 8, 184u);
  EXPECT_EQ(words[2], 6u);
  EXPECT_EQ(words[3], 0xau);
  EXPECT_EQ(words[4], 0x401000u);
  EXPECT_EQ(words[5], 0x0001'0001'0008'0002u);
  EXPECT_EQ(words[6], 0x1000u);
  EXPECT_EQ(words[14], 0x1008u);
  EXPECT_EQ(words[22], 0x2000u);
  EXPECT_EQ(scene.write(SimdAbi::merged).size() * 8, 208u);
}

TEST(SimdRegisters, PartsOfARegisterFileAreLegalInSeriesV7Only) {
  Attr attr;
  attr.sample_type = sample::REGS_INTR;
  attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords = 1;
  attr.sample_simd_vec_reg_qwords = 8;
  attr.sample_simd_vec_reg_intr = 3;
  EXPECT_TRUE(check_attr(attr, {.kernel = Kernel::v7_1_simd}));
  EXPECT_FALSE(check_attr(attr, {.kernel = Kernel::v7_4}));
}

TEST(SimdRegisters, EveryZmmAndOpmaskInTheMergedForm) {  // 5.1
  Scene scene;
  scene.attr.sample_type = sample::IP | sample::REGS_INTR;
  scene.attr.sample_regs_intr = 0x101;
  scene.attr.sample_simd_vec_reg_intr = 0xffffffff;
  scene.attr.sample_simd_vec_reg_qwords = 8;
  scene.attr.sample_simd_pred_reg_intr = 0xff;
  scene.attr.sample_simd_pred_reg_qwords = 1;
  const auto words = scene.write(SimdAbi::merged);
  ASSERT_EQ(words.size() * 8, 2184u);
  EXPECT_EQ((std::vector<u64>(words.begin() + 5, words.begin() + 9)), (std::vector<u64>{32, 8, 8, 1}));
  EXPECT_EQ(words[(72 + 64 * 31) / 8], 0x1000u + 31 * 8);
  EXPECT_EQ(words[(2120 + 8 * 7) / 8], 0x2007u);
}

TEST(SimdRegisters, XmmOfBothSides) {  // 5.2 and its variant
  Scene scene;
  scene.attr.sample_type = sample::IP | sample::TID | sample::REGS_USER | sample::REGS_INTR;
  scene.attr.sample_regs_user = 0x180;
  scene.attr.sample_regs_intr = 1;
  scene.attr.sample_simd_vec_reg_qwords = 2;
  scene.attr.sample_simd_vec_reg_user = scene.attr.sample_simd_vec_reg_intr = 0xffff;
  const auto merged = scene.write(SimdAbi::merged);
  ASSERT_EQ(merged.size() * 8, 640u);
  EXPECT_EQ(merged[32 / 8], 0x7ff0u);
  EXPECT_EQ(merged[80 / 8 + 2], 0x1008u);  // XMM1 is the low quarter of ZMM1
  EXPECT_EQ(merged[384 / 8], 0x1000u);
  EXPECT_EQ(scene.write(SimdAbi::series_v7).size() * 8, 592u);
  scene.kernel_thread = true;
  EXPECT_EQ(scene.write(SimdAbi::merged).size() * 8, 336u);
}

TEST(SimdRegisters, TheLegacyRequestHasNoCounts) {  // 5.2, last variant
  Scene scene;
  scene.attr.sample_simd_regs_enabled = 0;
  scene.attr.sample_type = sample::IP | sample::TID | sample::REGS_INTR;
  scene.attr.sample_regs_intr = 0xffffffff'00000001;
  EXPECT_EQ(scene.write(SimdAbi::merged).size() * 8, 296u);
}

TEST(SimdRegisters, EgprAndShadowStackPointer) {  // 5.3
  Scene scene;
  scene.attr.sample_type = sample::REGS_INTR;
  scene.attr.sample_regs_intr = bit(24) | bit(39) | bit(40);
  const auto words = scene.write(SimdAbi::merged);
  EXPECT_EQ((std::vector<u64>(words.begin() + 1, words.end())),
            (std::vector<u64>{6, 0x3000, 0x300f, 0x4000, 0, 0, 0, 0}));
  EXPECT_EQ(scene.write(SimdAbi::series_v7).size() * 8, 48u);
}

TEST(SimdRegisters, WhatIsNotKnownReadsZeroAndPebsXmmAreTheLowHalves) {
  Scene scene;
  scene.data.extended = {};
  const std::vector<u64> xmm = {11, 12, 13, 14};
  scene.data.xmm = std::as_bytes(std::span(xmm));
  scene.attr.sample_type = sample::REGS_INTR;
  scene.attr.sample_simd_vec_reg_qwords = 4;
  scene.attr.sample_simd_vec_reg_intr = 0xffff;
  const auto words = scene.write(SimdAbi::merged);
  EXPECT_EQ((std::vector<u64>(words.begin() + 6, words.begin() + 15)),
            (std::vector<u64>{11, 12, 0, 0, 13, 14, 0, 0, 0}));
}

TEST(SimdRegisters, SeriesV7KeepsEnabledAndPredicateWidthInOneField) {  // section 4.1
  Attr attr;
  attr.size = 176;
  attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords = 1;
  attr.sample_simd_vec_reg_qwords = 8;
  const Attr image = to_series_v7(attr);
  const unsigned char expected[8] = {1, 0, 8, 0, 0, 0, 0, 0};
  EXPECT_EQ(std::memcmp(reinterpret_cast<const char*>(&image) + 144, expected, 8), 0);
  EXPECT_EQ(from_series_v7(image).sample_simd_vec_reg_qwords, 8u);
  EXPECT_EQ(from_series_v7(image).sample_simd_pred_reg_qwords, 1u);
}

}  // namespace
}  // namespace pmusim::perf
