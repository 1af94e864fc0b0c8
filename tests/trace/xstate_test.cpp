// SPDX-License-Identifier: MIT
// XSAVE areas as the kernel hands them out, read into registers. The areas are made here: of no host's CPU.
#include "trace/xstate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace pmusim::trace {
namespace {

using enum StateComponent;

/// An area of the standard format with these components valid; every byte is random, what is not valid too.
std::vector<std::byte> random_area(u64 components, std::mt19937_64& random) {
  std::vector<std::byte> area(xsave::standard_layout(xsave::intel_components, ~u64{0}).bytes);
  for (std::byte& byte : area) byte = static_cast<std::byte>(random());
  const u32 mxcsr_mask = 0xFFFF;
  std::memcpy(&area[xsave::legacy::MXCSR_MASK], &mxcsr_mask, sizeof mxcsr_mask);
  std::memcpy(&area[xsave::legacy_bytes], &components, sizeof components);
  return area;
}

u64 qword(std::span<const std::byte> area, std::size_t offset) {
  u64 value = 0;
  std::memcpy(&value, area.data() + offset, sizeof value);
  return value;
}

// What a user program has: not LBR and the other supervisor components.
constexpr u64 user_components =
    state_bits(x87, sse, avx, bndregs, bndcsr, opmask, zmm_hi256, hi16_zmm, pkru, tilecfg, tiledata);

TEST(XsaveArea, ValidComponentsAreReadAndTheOthersAreInitial) {
  std::mt19937_64 random(3);
  const ExtendedState initial;
  for (int round = 0; round < 200; ++round) {
    const u64 valid = random() & user_components;
    const auto area = random_area(valid, random);
    const ExtendedState state = state_of_area(area, xsave::intel_components);
    EXPECT_EQ(state.in_use(), valid);
    EXPECT_EQ(state.mxcsr(), static_cast<u32>(qword(area, xsave::legacy::MXCSR))) << "whatever is valid";
    for (const unsigned n : set_bits(user_components & ~state_bits(x87, sse))) {
      const auto c = static_cast<StateComponent>(n);
      for (std::size_t q = 0; q < ExtendedState::size_of(c); ++q) {
        const u64 there = qword(area, xsave::intel_components[n].standard_offset + 8 * q);
        EXPECT_EQ(state.component(c)[q], (valid & bit(n)) != 0 ? there : initial.component(c)[q])
            << n << " " << q;
      }
    }
    for (std::size_t q = 0; q < 32; ++q)
      EXPECT_EQ(state.component(sse)[q], (valid & state_bit(sse)) != 0 ? qword(area, 160 + 8 * q) : 0) << q;
  }
}

// SDM vol. 1, table 10-2: byte 5 is reserved, the opcode has 11 bits, a register of the stack 80.
TEST(XsaveArea, OfX87OnlyWhatIsDefinedIsRead) {
  std::vector<std::byte> area(xsave::extended_offset, std::byte{0xFF});
  const u64 valid = state_bit(x87);
  std::memcpy(&area[xsave::legacy_bytes], &valid, sizeof valid);
  const auto registers = state_of_area(area, xsave::intel_components);
  constexpr u64 control = 0xFFFF, status = u64{0xFFFF} << 16, tags = u64{0xFF} << 32,
                opcode = u64{0x7FF} << 48;
  EXPECT_EQ(registers.component(x87)[0], control | status | tags | opcode);
  EXPECT_EQ(registers.component(x87)[1], ~u64{0}) << "of the last instruction";
  EXPECT_EQ(registers.component(x87)[2], ~u64{0}) << "of its operand";
  for (std::size_t st = 3; st < 19; st += 2) {
    EXPECT_EQ(registers.component(x87)[st], ~u64{0});
    EXPECT_EQ(registers.component(x87)[st + 1], 0xFFFFu);
  }
}

TEST(XsaveArea, ThatIsCutShortHasNothingBehindItsEnd) {
  std::mt19937_64 random(4);
  const auto whole = random_area(state_bits(avx, pkru), random);
  const std::size_t end_of_avx = xsave::extended_offset + 256;
  const ExtendedState state = state_of_area(std::span(whole).first(end_of_avx), xsave::intel_components);
  EXPECT_EQ(state.component(avx)[31], qword(whole, end_of_avx - 8));
  EXPECT_EQ(state.pkru(), 0u);
  EXPECT_EQ(state_of_area(std::span(whole).first(xsave::extended_offset - 1), xsave::intel_components),
            ExtendedState{});
}

}  // namespace
}  // namespace pmusim::trace
