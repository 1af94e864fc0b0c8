// SPDX-License-Identifier: MIT
// Every shape of a register block, and whole examples, out of the ring: register file, XSAVES or PEBS record,
// driver, core (docs/sampled-registers.md).
#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "register_samples.h"
#include "tests/support/whole_kernel.h"

namespace pmusim::driver {
namespace {

using perf::Attr;
using perf::HardwareId;
using perf::SimdAbi;
namespace sample = perf::sample;

constexpr u64 code = 0x1000, stack = 0x7ff0;

Attr sampling(unsigned precise, u64 sample_type) {
  Attr attr = hardware(HardwareId::instructions, 20);
  attr.exclude_kernel = 1;
  attr.precise_ip = precise & 3;
  attr.sample_type = sample_type;
  attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords = 1;
  return attr;
}

/// The first sample of a program that runs with numbered_state().
std::vector<u64> first_sample(const CpuModel& model, const Attr& attr, SimdAbi simd) {
  WholeKernel machine(model, perf::kernel_with(simd));
  machine.start_program();
  const auto event = machine.core.open(attr, -1, 0);
  if (!event.ok()) {
    ADD_FAILURE() << event.error().message;
    return {};
  }
  perf::RingBuffer& ring = **machine.core.mmap(**event, 8);
  const ExtendedState extended = numbered_state();
  machine.pmu.set_extended_state(&extended);
  Registers registers;
  registers.rip = code;
  registers[Gpr::rax] = 0xa;
  registers[Gpr::rsp] = stack;
  for (u64 cycle = 1; cycle < 60; ++cycle)
    machine.pmu.retire({.ip = code,
                        .next_ip = code,
                        .cycle = cycle,
                        .signals = {Signal::instruction},
                        .length = 4,
                        .registers = &registers});
  machine.pmu.wait_until(100, {});
  machine.core.disable(**event);
  const auto samples = samples_of(ring);
  return samples.empty() ? std::vector<u64>{} : samples.front();
}

/// One side of a request.
struct Shape {
  unsigned vector_qwords = 0;
  u64 vectors = 0;
  u32 predicates = 0;
  u64 general = 0;
};

/// Word w of vector register r in numbered_state().
u64 vector_word(u64 r, u64 w) {
  if (r >= 16) return 0x4000 + 8 * (r - 16) + w;
  return w < 2 ? 0x1000 + 2 * r + w : w < 4 ? 0x2000 + 2 * r + w - 2 : 0x3000 + 4 * r + w - 4;
}

void put_counts(std::vector<u64>& words, std::array<u64, 4> counts, SimdAbi simd) {
  if (simd == SimdAbi::series_v7)
    words.push_back(counts[0] | counts[1] << 16 | counts[2] << 32 | counts[3] << 48);
  else
    words.insert(words.end(), counts.begin(), counts.end());
}

void put_block(std::vector<u64>& words, const Shape& shape, SimdAbi simd) {
  words.push_back(6);
  for (unsigned n = 0; n < 9; ++n)
    if ((shape.general & bit(n)) != 0) words.push_back(n == 0 ? 0xa : n == 7 ? stack : n == 8 ? code : 0);
  for (unsigned n = 0; n < 16; ++n)
    if ((shape.general & bit(24 + n)) != 0) words.push_back(0x6000 + n);
  if ((shape.general & bit(40)) != 0) words.push_back(0x7000);
  const auto count = [](u64 mask) { return static_cast<u64>(std::popcount(mask)); };
  put_counts(words, {count(shape.vectors), shape.vector_qwords, count(shape.predicates), 1}, simd);
  for (unsigned r = 0; r < 32; ++r)
    for (unsigned w = 0; w < shape.vector_qwords && (shape.vectors & bit(r)) != 0; ++w)
      words.push_back(vector_word(r, w));
  for (unsigned k = 0; k < 8; ++k)
    if ((shape.predicates & bit(k)) != 0) words.push_back(0x5000 + k);
}

std::vector<u64> with_header(std::vector<u64> words, u64 misc = 2) {
  words.insert(words.begin(), u64{words.size() + 1} << 51 | misc << 32 | 9);
  return words;
}

struct Width {
  unsigned qwords;
  u64 vectors;
};
constexpr Width whole_files[] = {{0, 0}, {2, 0xffff}, {4, 0xffff}, {8, 0xffffffff}};
constexpr Width parts[] = {{2, 0x8001}, {4, 0x0110}, {8, 0x80010001}};
constexpr u64 general_masks[] = {0, 0x181, bit(24) | bit(39), bit(40), bits(40, 24) | 0x1ff};

/// Whole register files, and where the form has them, parts; each with opmasks, general registers and SSP.
std::vector<Shape> shapes_of(SimdAbi simd) {
  std::vector<Width> widths(std::begin(whole_files), std::end(whole_files));
  std::vector<u32> predicates{0, 0xff};
  if (simd == SimdAbi::series_v7) {
    widths.insert(widths.end(), std::begin(parts), std::end(parts));
    predicates.push_back(0x81);
  }
  std::vector<Shape> shapes;
  for (const Width& width : widths)
    for (const u32 mask : predicates)
      for (const u64 general : general_masks) shapes.push_back({width.qwords, width.vectors, mask, general});
  return shapes;
}

/// Attribute members of a side.
void ask(Attr& attr, u64 side, const Shape& shape) {
  attr.sample_type |= side;
  attr.sample_simd_vec_reg_qwords = static_cast<u16>(shape.vector_qwords);
  const bool user = side == sample::REGS_USER;
  (user ? attr.sample_regs_user : attr.sample_regs_intr) = shape.general;
  (user ? attr.sample_simd_vec_reg_user : attr.sample_simd_vec_reg_intr) = shape.vectors;
  (user ? attr.sample_simd_pred_reg_user : attr.sample_simd_pred_reg_intr) = shape.predicates;
}

class RegisterShapes : public testing::TestWithParam<std::tuple<SimdAbi, unsigned>> {};

TEST_P(RegisterShapes, OfEachSideAndBothAreExactInTheRing) {
  const auto& [simd, precise] = GetParam();
  const CpuModel model = model_with_every_group();
  const u64 misc = precise == 2 ? 0x4002 : 2;  // the exact address
  for (const Shape& shape : shapes_of(simd))
    for (const u64 sides :
         {u64{sample::REGS_USER}, u64{sample::REGS_INTR}, sample::REGS_USER | sample::REGS_INTR}) {
      Attr attr = sampling(precise, sample::IP);
      Shape other = shape;
      other.general ^= bit(24);  // the two sides differ
      std::vector<u64> expected = {code};
      if ((sides & sample::REGS_USER) != 0) {
        ask(attr, sample::REGS_USER, other);
        put_block(expected, other, simd);
      }
      if ((sides & sample::REGS_INTR) != 0) {
        ask(attr, sample::REGS_INTR, shape);
        put_block(expected, shape, simd);
      }
      ASSERT_EQ(first_sample(model, attr, simd), with_header(expected, misc))
          << shape.vector_qwords << std::hex << ' ' << shape.vectors << ' ' << shape.predicates << ' '
          << shape.general << " sides " << sides;
    }
}

std::string name_of(const testing::TestParamInfo<std::tuple<SimdAbi, unsigned>>& instance) {
  const auto& [simd, precise] = instance.param;
  return std::string(simd == SimdAbi::merged ? "merged" : "series") +
         (precise != 0 ? "_by_pebs" : "_by_interrupt");
}
INSTANTIATE_TEST_SUITE_P(Forms, RegisterShapes,
                         testing::Combine(testing::Values(SimdAbi::series_v7, SimdAbi::merged),
                                          testing::Values(0u, 2u)),
                         name_of);

TEST(WorkedExample, XmmOfBothSidesIsTheSameByteForByte) {
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged}) {
    const bool merged = simd == SimdAbi::merged;
    Attr attr = sampling(0, 0x41003);
    if (merged) attr.sample_simd_pred_reg_qwords = 0;
    attr.sample_regs_user = 0x180;
    attr.sample_regs_intr = 1;
    attr.sample_simd_vec_reg_qwords = 2;
    attr.sample_simd_vec_reg_user = attr.sample_simd_vec_reg_intr = 0xffff;
    std::vector<u64> expected = {(merged ? 640ull : 592ull) << 48 | 0x2'0000'0009, 0x1000, 0x1'0000'0001};
    const auto put_xmm = [&] {
      if (merged)
        expected.insert(expected.end(), {16, 2, 0, 0});
      else
        expected.push_back(0x0001'0000'0002'0010);
      for (u64 word = 0x1000; word < 0x1020; ++word) expected.push_back(word);
    };
    expected.insert(expected.end(), {6, 0x7ff0, 0x1000});
    put_xmm();
    expected.insert(expected.end(), {6, 0xa});
    put_xmm();
    EXPECT_EQ(first_sample(model_with_skid("sapphirerapids", 0), attr, simd), expected);
  }
}

TEST(WorkedExample, XmmByTheirOldNumbersAreTheSameByteForByte) {
  Attr attr = sampling(0, sample::IP | sample::TID | sample::REGS_INTR);
  attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords = 0;
  attr.sample_regs_intr = 0xffffffff'00000001;
  std::vector<u64> expected = {u64{296} << 48 | 0x2'0000'0009, 0x1000, 0x1'0000'0001, 2, 0xa};
  for (u64 word = 0x1000; word < 0x1020; ++word) expected.push_back(word);
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged})
    EXPECT_EQ(first_sample(model_with_skid("sapphirerapids", 0), attr, simd), expected);
}

TEST(WorkedExample, EgprAndShadowStackPointerAreTheSameByteForByte) {
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged}) {
    Attr attr = sampling(0, sample::REGS_INTR);
    if (simd == SimdAbi::merged) attr.sample_simd_pred_reg_qwords = 0;
    attr.sample_regs_intr = 0x180'0100'0000;
    const std::vector<u64> merged = {u64{72} << 48 | 0x2'0000'0009, 6, 0x6000, 0x600f, 0x7000, 0, 0, 0, 0};
    const std::vector<u64> series = {u64{48} << 48 | 0x2'0000'0009, 6, 0x6000, 0x600f, 0x7000, u64{1} << 48};
    EXPECT_EQ(first_sample(model_with_every_group(), attr, simd), simd == SimdAbi::merged ? merged : series);
  }
}

// --- what the driver programs for them

/// All CFG_C registers, one over the other.
u64 groups_programmed(const Attr& attr, SimdAbi simd) {
  Machine machine(model_with_every_group(), {.kernel = perf::kernel_with(simd)});
  perf::Event& event = machine.opened(attr);
  EXPECT_TRUE(machine.schedule(event)) << machine.refusal;
  u64 groups = 0;
  for (u32 n = 0; n < 8; ++n)
    for (const u32 first : {msr::V6_GP0_CFG_C, msr::V6_FX0_CFG_C})
      groups |= machine.pmu.rdmsr(first + n * msr::V6_STRIDE).value_or(0);
  return groups & (pebs::cfg_c::VECTORS | pebs::cfg_c::GPRS);
}

TEST(PebsGroups, AreTheOnesThatTheRequestNeeds) {
  using namespace pebs::cfg_c;
  struct Case {
    const char* what;
    Shape shape;
    u64 groups;
  };
  const Case cases[] = {
      {"nothing", {}, 0},
      {"AX", {.general = 1}, GPRS},
      {"XMM", {2, 0xffff, 0, 0}, XMM},
      {"YMM", {4, 0xffff, 0, 0}, XMM | YMMH},
      {"ZMM", {8, 0xffffffff, 0, 0}, XMM | YMMH | ZMMH | HI16_ZMM},
      {"opmask", {0, 0, 0xff, 0}, OPMASK},
      {"R16", {.general = bit(24)}, EGPR},
      {"SSP", {.general = bit(40)}, GPRS},
  };
  for (const SimdAbi simd : {SimdAbi::series_v7, SimdAbi::merged})
    for (const Case& c : cases)
      for (const u64 side : {u64{sample::REGS_USER}, u64{sample::REGS_INTR}}) {
        Attr attr = sampling(2, sample::IP);
        ask(attr, side, c.shape);
        EXPECT_EQ(groups_programmed(attr, simd), c.groups) << c.what;
        attr.precise_ip = 1;
        EXPECT_EQ(groups_programmed(attr, simd), c.groups | GPRS)
            << c.what << ", which needs the registers' IP";
      }
}

}  // namespace
}  // namespace pmusim::driver
