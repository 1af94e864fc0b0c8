// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "pmusim/arch/xsave.h"

namespace pmusim {
namespace {

using enum StateComponent;

TEST(ExtendedState, IsInItsInitialConfigurationAtFirst) {
  const ExtendedState state;
  EXPECT_EQ(state.in_use(), 0u);
  EXPECT_EQ(state.mxcsr(), 0x1F80u);
  EXPECT_EQ(state.component(x87)[0], 0x37Fu);
  EXPECT_EQ(state.vector(31), (std::array<u64, 8>{}));
}

TEST(ExtendedState, ShowsAVectorRegisterWhole) {
  ExtendedState state;
  state.write(sse, 2 * 5, {1, 2});
  state.write(avx, 2 * 5, {3, 4});
  state.write(zmm_hi256, 4 * 5, {5, 6, 7, 8});
  state.write(hi16_zmm, 8 * 15, {11, 12, 13, 14, 15, 16, 17, 18});
  EXPECT_EQ(state.vector(5), (std::array<u64, 8>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(state.vector(31), (std::array<u64, 8>{11, 12, 13, 14, 15, 16, 17, 18}));
  EXPECT_EQ(state.in_use(), state_bits(sse, avx, zmm_hi256, hi16_zmm));
}

TEST(ExtendedState, KeepsMxcsrApartFromTheUseOfSse) {
  ExtendedState state;
  state.write(sse, ExtendedState::mxcsr_qword, {0x1FA0});
  EXPECT_EQ(state.mxcsr(), 0x1FA0u);
  EXPECT_EQ(state.in_use(), 0u);
  state.write(sse, 0, {1});
  state.initialize(sse);
  EXPECT_EQ(state.mxcsr(), 0x1FA0u);
  EXPECT_EQ(state.vector(0)[0], 0u);
}

TEST(ExtendedState, LeavesOutWhatIsBeyondAComponent) {
  ExtendedState state;
  state.write(opmask, 7, {1, 2, 3});
  EXPECT_EQ(state.opmask(7), 1u);
  EXPECT_EQ(state.component(zmm_hi256)[0], 0u);
  state.write(pkru, 9, {1});
  EXPECT_EQ(state.in_use(), state_bit(opmask));
}

TEST(ExtendedChange, CarriesOneInstructionsWritesAndTheInUseBits) {
  const std::array<u64, 2> low{1, 2};
  const std::array writes{ExtendedWrite{sse, 4, low}};
  ExtendedState state;
  state.write(avx, 0, {9});
  ExtendedChange{state_bit(sse), writes}.apply_to(state);
  EXPECT_EQ(state.vector(2)[1], 2u);
  EXPECT_EQ(state.in_use(), state_bit(sse));
}

}  // namespace
}  // namespace pmusim
