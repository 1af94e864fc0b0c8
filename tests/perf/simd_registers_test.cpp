// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>

#include "perf/attr_check.h"
#include "perf/sample_output.h"
#include "perf/simd_abi.h"

/// The SIMD block of a sample, byte by byte, in both forms of the ABI, and every shape of it.
namespace pmusim::perf::simd_registers_test {
namespace {

/// Registers of which each word says where it belongs: word w of ZMMr is 0x1000 + 8r + w, k is 0x2000 + k, R
/// 16 + n is 0x3000 + n.
struct KnownRegisters {
  std::array<u64, 32> xmm{}, ymm_high{};
  std::array<u64, 64> zmm_high{};
  std::array<u64, 128> hi16_zmm{};
  std::array<u64, 8> opmask{};
  std::array<u64, 16> egpr{};
  ExtendedRegisters view;

  static constexpr u64 vector_word(unsigned r, unsigned w) { return 0x1000 + 8 * r + w; }

  KnownRegisters() {
    for (unsigned r = 0; r < 16; ++r) {
      for (unsigned w = 0; w < 2; ++w) xmm[2 * r + w] = vector_word(r, w);
      for (unsigned w = 0; w < 2; ++w) ymm_high[2 * r + w] = vector_word(r, 2 + w);
      for (unsigned w = 0; w < 4; ++w) zmm_high[4 * r + w] = vector_word(r, 4 + w);
      for (unsigned w = 0; w < 8; ++w) hi16_zmm[8 * r + w] = vector_word(16 + r, w);
      egpr[r] = 0x3000 + r;
    }
    for (unsigned k = 0; k < 8; ++k) opmask[k] = 0x2000 + k;
    const auto bytes = [](const auto& words) { return std::as_bytes(std::span(words)); };
    view = {bytes(xmm),    bytes(ymm_high), bytes(zmm_high), bytes(hi16_zmm),
            bytes(opmask), bytes(egpr),     0x4000};
  }
  KnownRegisters(const KnownRegisters&) = delete;
  KnownRegisters& operator=(const KnownRegisters&) = delete;
};

struct Scene {
  Attr attr;
  KnownRegisters known;
  SampleData data;
  Cpl cpl = Cpl::user;
  bool kernel_thread = false;

  Scene() {
    data.extended = data.user_extended = &known.view;
    attr.sample_simd_regs_enabled = 1;
  }

  std::vector<u64> write(SimdAbi simd) const {
    Event event;
    event.attr = attr;
    event.layout = make_sample_layout(attr, kernel_with(simd));
    InterruptFrame frame;
    frame.cpl = cpl;
    frame.registers.rip = 0x401000;
    frame.registers[Gpr::rax] = 0xa;
    frame.registers[Gpr::rsp] = 0x7ff0;
    SampleEnvironment environment;
    if (!kernel_thread) environment.user_registers = &frame.registers;
    environment.user_extended = data.user_extended;
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
  EXPECT_EQ((std::vector<u64>(words.begin(), words.begin() + 5)),
            (std::vector<u64>{0x0888'0002'0000'0009, 0x401000, 6, 0xa, 0x401000}));
  for (unsigned r = 0; r < 32; ++r)
    for (unsigned w = 0; w < 8; ++w) EXPECT_EQ(words[9 + 8 * r + w], KnownRegisters::vector_word(r, w));
  for (unsigned k = 0; k < 8; ++k) EXPECT_EQ(words[2120 / 8 + k], 0x2000u + k);
}

TEST(SimdRegisters, XmmOfBothSidesByteForByte) {  // 5.2 and its variant
  Scene scene;
  scene.attr.sample_type = sample::IP | sample::TID | sample::REGS_USER | sample::REGS_INTR;
  scene.attr.sample_regs_user = 0x180;
  scene.attr.sample_regs_intr = 1;
  scene.attr.sample_simd_vec_reg_qwords = 2;
  scene.attr.sample_simd_vec_reg_user = scene.attr.sample_simd_vec_reg_intr = 0xffff;
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged}) {
    const bool merged = simd == SimdAbi::merged;
    scene.attr.sample_simd_pred_reg_qwords = merged ? 0 : 1;
    std::vector<u64> xmm = merged ? std::vector<u64>{16, 2, 0, 0} : std::vector<u64>{0x0001'0000'0002'0010};
    for (u64 r = 0; r < 16; ++r) xmm.insert(xmm.end(), {0x1000 + 8 * r, 0x1001 + 8 * r});
    std::vector<u64> expected = {
        (merged ? 640ull : 592ull) << 48 | 0x2'0000'0009, 0x401000, 0, 6, 0x7ff0, 0x401000};
    expected.insert(expected.end(), xmm.begin(), xmm.end());
    expected.insert(expected.end(), {6, 0xa});
    expected.insert(expected.end(), xmm.begin(), xmm.end());
    EXPECT_EQ(scene.write(simd), expected);
  }
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
  scene.attr.sample_simd_pred_reg_qwords = 1;  // the field that enables
  EXPECT_EQ(scene.write(SimdAbi::series_v7),
            (std::vector<u64>{0x0030'0002'0000'0009, 6, 0x3000, 0x300f, 0x4000, u64{1} << 48}));
}

TEST(SimdRegisters, PiecesThatAreNotKnownReadZero) {
  Scene scene;
  const ExtendedRegisters xmm_alone{.xmm = scene.known.view.xmm};
  scene.data.extended = &xmm_alone;
  scene.attr.sample_type = sample::REGS_INTR;
  scene.attr.sample_simd_vec_reg_qwords = 4;
  scene.attr.sample_simd_vec_reg_intr = 0xffff;
  const auto words = scene.write(SimdAbi::merged);
  EXPECT_EQ((std::vector<u64>(words.begin() + 6, words.begin() + 15)),
            (std::vector<u64>{0x1000, 0x1001, 0, 0, 0x1008, 0x1009, 0, 0, 0x1010}));
  scene.data.extended = nullptr;
  const auto nothing = scene.write(SimdAbi::merged);
  EXPECT_EQ(std::vector<u64>(nothing.begin() + 6, nothing.end()), std::vector<u64>(64));
}

TEST(SimdRegisters, NarrowRegistersFrom16UpAreCountedAndReadZero) {  // docs/sampled-registers.md
  Scene scene;
  scene.attr.sample_type = sample::REGS_INTR;
  scene.attr.sample_simd_vec_reg_qwords = 2;
  scene.attr.sample_simd_vec_reg_intr = bits(16, 15);
  const auto words = scene.write(SimdAbi::series_v7);
  EXPECT_EQ((std::vector<u64>(words.begin() + 1, words.end())),
            (std::vector<u64>{6, 0x0000'0000'0002'0002, 0x1078, 0x1079, 0, 0}));
}

// docs/sampled-registers.md: the merged form hides what the kernel had in its registers.
TEST(SimdRegisters, MergedFormHidesExcludedKernelRegisters) {
  Scene scene;
  scene.attr.sample_type = sample::IP | sample::TID | sample::REGS_USER | sample::REGS_INTR;
  scene.attr.sample_regs_user = 0x180;
  scene.attr.sample_regs_intr = 1;
  scene.attr.sample_simd_vec_reg_qwords = 2;
  scene.attr.sample_simd_vec_reg_user = scene.attr.sample_simd_vec_reg_intr = 0xffff;
  scene.cpl = Cpl::kernel;
  EXPECT_EQ(scene.write(SimdAbi::merged).size() * 8, 640u);
  scene.attr.exclude_kernel = 1;
  const auto words = scene.write(SimdAbi::merged);
  ASSERT_EQ(words.size() * 8, 344u);
  EXPECT_EQ(words[336 / 8], 0u);
  EXPECT_EQ(scene.write(SimdAbi::series_v7).size() * 8, 592u);
}

TEST(SimdRegisters, SeriesV7SharesAFieldForEnabledAndPredicates) {  // docs/sampled-registers.md
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

/// The bytes of the first example of 5.1, which spells all of them out.
TEST(SimdRegisters, TheFirstExampleByteForByte) {
  Scene scene;
  scene.attr.sample_type = sample::IP | sample::REGS_INTR;
  scene.attr.sample_regs_intr = 0x101;
  scene.attr.sample_simd_vec_reg_intr = 3;
  scene.attr.sample_simd_vec_reg_qwords = 8;
  scene.attr.sample_simd_pred_reg_intr = 1;
  scene.attr.sample_simd_pred_reg_qwords = 1;
  const std::vector<u64> expected = {0x00b8'0002'0000'0009,
                                     0x401000,
                                     6,
                                     0xa,
                                     0x401000,
                                     0x0001'0001'0008'0002,  // to offset 48
                                     0x1000,
                                     0x1001,
                                     0x1002,
                                     0x1003,
                                     0x1004,
                                     0x1005,
                                     0x1006,
                                     0x1007,  // ZMM0
                                     0x1008,
                                     0x1009,
                                     0x100a,
                                     0x100b,
                                     0x100c,
                                     0x100d,
                                     0x100e,
                                     0x100f,   // ZMM1
                                     0x2000};  // k0
  EXPECT_EQ(scene.write(SimdAbi::series_v7), expected);
}

/// One shape of a register block, on one side or on both.
struct Shape {
  unsigned vector_qwords = 0;
  u64 vectors = 0;
  u32 predicates = 0;
  u64 general = 0;
};

void put_block(std::vector<u64>& words, const Shape& shape, SimdAbi simd) {
  const std::array<u64, 9> low = {0xa, 0, 0, 0, 0, 0, 0, 0x7ff0, 0x401000};  // AX, SP and IP are not 0
  words.push_back(6);
  for (unsigned n = 0; n < 24; ++n)
    if ((shape.general & bit(n)) != 0) words.push_back(n < low.size() ? low[n] : n == 9 ? 0x202 : 0);
  for (unsigned n = 0; n < 16; ++n)
    if ((shape.general & bit(24 + n)) != 0) words.push_back(0x3000 + n);
  if ((shape.general & bit(40)) != 0) words.push_back(0x4000);
  const auto vectors = static_cast<u64>(std::popcount(shape.vectors));
  const auto predicates = static_cast<u64>(std::popcount(shape.predicates));
  if (simd == SimdAbi::series_v7)
    words.push_back(vectors | u64{shape.vector_qwords} << 16 | predicates << 32 | u64{1} << 48);
  else
    words.insert(words.end(), {vectors, shape.vector_qwords, predicates, 1});
  for (unsigned r = 0; r < 32; ++r)
    for (unsigned w = 0; w < shape.vector_qwords && (shape.vectors & bit(r)) != 0; ++w)
      words.push_back(KnownRegisters::vector_word(r, w));
  for (unsigned k = 0; k < 8; ++k)
    if ((shape.predicates & bit(k)) != 0) words.push_back(0x2000 + k);
}

/// XMM, YMM, ZMM and none, whole files and parts; opmasks; extended general registers; SSP.
std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes;
  for (const auto& [qwords, vectors] : std::initializer_list<std::pair<unsigned, u64>>{
           {0, 0}, {2, 0xffff}, {2, 0x8001}, {4, 0xffff}, {4, 0x0110}, {8, 0xffffffff}, {8, 0x80010001}})
    for (const u32 predicates : {0x00u, 0xffu, 0x81u})
      for (const u64 general : {u64{0}, u64{0x181}, bit(24) | bit(39), bit(40), bits(40, 24) | 0x3ff})
        shapes.push_back({qwords, vectors, predicates, general});
  return shapes;
}

TEST(SimdRegisters, EveryShapeHasItsWordsInPlaceInBothForms) {  // docs/sampled-registers.md
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged})
    for (const Shape& user : all_shapes())
      for (const Shape& interrupt : all_shapes()) {
        if (user.vector_qwords != interrupt.vector_qwords) continue;
        Scene scene;
        scene.attr.sample_type = sample::REGS_USER | sample::WEIGHT | sample::REGS_INTR | sample::PHYS_ADDR;
        scene.attr.sample_simd_pred_reg_qwords = 1;
        scene.attr.sample_simd_vec_reg_qwords = static_cast<u16>(user.vector_qwords);
        scene.attr.sample_simd_vec_reg_user = user.vectors;
        scene.attr.sample_simd_pred_reg_user = user.predicates;
        scene.attr.sample_regs_user = user.general;
        scene.attr.sample_simd_vec_reg_intr = interrupt.vectors;
        scene.attr.sample_simd_pred_reg_intr = interrupt.predicates;
        scene.attr.sample_regs_intr = interrupt.general;
        scene.data.weight = 0x77;
        scene.data.physical_address = 0x99;
        std::vector<u64> expected = {0};
        put_block(expected, user, simd);
        expected.push_back(0x77);
        put_block(expected, interrupt, simd);
        expected.push_back(0x99);
        expected[0] = u64{expected.size() * 8} << 48 | 0x2'0000'0009;
        ASSERT_EQ(scene.write(simd), expected)
            << user.vector_qwords << std::hex << ": " << user.vectors << ' ' << interrupt.vectors << ' '
            << user.general << ' ' << interrupt.general;
      }
}

}  // namespace
}  // namespace pmusim::perf::simd_registers_test
