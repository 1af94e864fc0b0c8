// SPDX-License-Identifier: MIT
// XCR0: SDM vol. 1, 13.3.
#include <gtest/gtest.h>

#include <algorithm>

#include "xsave/xsave_unit.h"

namespace pmusim {
namespace {

/// A unit refers to its model: the presets stay.
const CpuModel& model(std::string_view name) {
  return *std::ranges::find(cpu_models(), name, &CpuModel::name);
}
constexpr u64 everything = ~u64{0};

TEST(Xcr0, TakesTheCombinationsThatTheManualAllows) {
  for (const u64 legal :
       {0x1u, 0x3u, 0x7u, 0x1Fu, 0xE7u, 0x207u, 0x2E7u, 0x602E7u, 0x800E7u, 0x802E7u, 0xE02E7u})
    EXPECT_TRUE(xcr0_is_legal(legal, everything)) << std::hex << legal;
}

TEST(Xcr0, RefusesPartsWithoutWhatTheyBuildOn) {
  for (const u64 illegal : {0x0u, 0x2u, 0x5u, 0xFu, 0x17u, 0x27u, 0x67u, 0xE3u, 0x20007u, 0x40007u, 0x8001Fu})
    EXPECT_FALSE(xcr0_is_legal(illegal, everything)) << std::hex << illegal;
}

TEST(Xcr0, RefusesWhatTheProcessorDoesNotHave) {
  XsaveUnit unit(model("skylake"));  // 0x1F: no AVX-512
  EXPECT_EQ(unit.xsetbv(0, 0xE7), Fault::gp);
  EXPECT_EQ(unit.xsetbv(0, bit(15) | 1), Fault::gp) << "a supervisor component";
  EXPECT_EQ(unit.xsetbv(0, bit(63) | 1), Fault::gp);
  EXPECT_EQ(*unit.xgetbv(0), 1u) << "as after RESET";
  EXPECT_EQ(unit.xsetbv(0, 0x1F), Fault::none);
  EXPECT_EQ(*unit.xgetbv(0), 0x1Fu);
}

TEST(Xcr0, IsTheOnlyRegisterThatXsetbvWrites) {
  XsaveUnit unit(model("icelake"));
  EXPECT_EQ(unit.xsetbv(1, 7), Fault::gp);
  EXPECT_EQ(unit.xgetbv(2).error(), Fault::gp);
}

TEST(Xcr0, DoesNotExistWithoutXsave) {
  XsaveUnit unit(model("nehalem"));
  EXPECT_EQ(unit.xsetbv(0, 1), Fault::ud);
  EXPECT_EQ(unit.xgetbv(0).error(), Fault::ud);
}

TEST(Xgetbv, OfOneReturnsWhatIsEnabledAndInUse) {
  XsaveUnit unit(model("icelake"));
  ExtendedState state;
  state.write(StateComponent::sse, 0, {1});
  state.write(StateComponent::avx, 0, {1});
  unit.set_state(state);
  EXPECT_EQ(*unit.xgetbv(1), 0u) << "XCR0 holds x87 alone, which is not in use";
  ASSERT_EQ(unit.xsetbv(0, 7), Fault::none);
  EXPECT_EQ(*unit.xgetbv(1), 6u);
}

TEST(Xgetbv, OfOneCountsAChangedMxcsrAsSse) {  // although XINUSE[1] does not
  XsaveUnit unit(model("icelake"));
  ASSERT_EQ(unit.xsetbv(0, 7), Fault::none);
  ExtendedState state;
  state.set_mxcsr(0x1FA0);
  unit.set_state(state);
  EXPECT_EQ(*unit.xgetbv(1), 2u);
}

}  // namespace
}  // namespace pmusim
