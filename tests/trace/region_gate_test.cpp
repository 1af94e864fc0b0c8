// SPDX-License-Identifier: MIT
// Why a region that was asked for has nothing in it.
#include "trace/region_gate.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace pmusim::trace {
namespace {

std::vector<std::byte> code_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> code;
  for (const unsigned value : values) code.push_back(static_cast<std::byte>(value));
  return code;
}

const auto start_mark = code_of({0xBB, 0x11, 0x01, 0, 0, 0x64, 0x67, 0x90});
const auto both_marks =
    code_of({0xBB, 0x11, 0x01, 0, 0, 0x64, 0x67, 0x90, 0xBB, 0x22, 0x02, 0, 0, 0x64, 0x67, 0x90});

TEST(RegionGate, ThatIsOpenHasNoReason) {
  EXPECT_EQ(RegionGate({}).why_not_begun(), "");
  EXPECT_EQ(RegionGate({.count = 10}).why_not_begun(), "");
  RegionGate gate({.marks = true});
  gate.executed(start_mark, 2, 0);
  EXPECT_TRUE(gate.is_open());
  EXPECT_EQ(gate.why_not_begun(), "");
}

TEST(RegionGate, ThatNeverOpenedSaysWhatWasNotReached) {
  EXPECT_EQ(RegionGate({.marks = true}).why_not_begun(), "the program reached no start mark");
  EXPECT_EQ(RegionGate({.start_symbol = "f"}).why_not_begun(),
            "neither the program nor a library that it mapped has a function 'f'");
}

TEST(RegionGate, ThatOpensAndClosesInOneBlockEndedWhereItBegan) {
  RegionGate gate({.marks = true});
  gate.executed(both_marks, 4, 0);
  EXPECT_TRUE(gate.is_over());
  EXPECT_EQ(gate.why_not_begun(), "the region ended where it began");
}

}  // namespace
}  // namespace pmusim::trace
