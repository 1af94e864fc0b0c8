// SPDX-License-Identifier: MIT
// Why a region that was asked for has nothing in it.
#include "trace/region_gate.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <initializer_list>

namespace pmusim::trace {

int marked_function(int n);
int marked_function(int n) { return n + 1; }  // to be found in this program's file

namespace {

std::vector<std::byte> code_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> code;
  for (const unsigned value : values) code.push_back(static_cast<std::byte>(value));
  return code;
}

const auto start_mark = code_of({0xBB, 0x11, 0x01, 0, 0, 0x64, 0x67, 0x90});
const auto both_marks =
    code_of({0xBB, 0x11, 0x01, 0, 0, 0x64, 0x67, 0x90, 0xBB, 0x22, 0x02, 0, 0, 0x64, 0x67, 0x90});

const std::string own_file = "/proc/self/exe";

TEST(FunctionOfAFile, IsFoundByItsLinkedNameAndByItsReadableOne) {
  const auto linked = file_offset_of_function(own_file, "_ZN6pmusim5trace15marked_functionEi");
  ASSERT_TRUE(linked);
  EXPECT_EQ(file_offset_of_function(own_file, "pmusim::trace::marked_function"), linked);
  EXPECT_EQ(file_offset_of_function(own_file, "pmusim::trace::marked_function(int)"), linked);
  EXPECT_NE(file_offset_of_function(own_file, "main"), linked);
  for (const char* none : {"pmusim::trace::marked_function(long)", "marked_function", "stdout"})
    EXPECT_FALSE(file_offset_of_function(own_file, none)) << none;
  EXPECT_FALSE(file_offset_of_function("/proc/self/status", "main")) << "no ELF file";
}

TEST(RegionGate, BeginsAtItsFunctionWhereTheMappingHasIt) {
  const u64 offset = *file_offset_of_function(own_file, "main");
  const auto starts = [](const std::string& function, u64 file_offset, u64 bytes) {
    RegionGate gate({.start_symbol = function});
    gate.mapped({0x10000, bytes, file_offset, PROT_READ | PROT_EXEC, MAP_PRIVATE, own_file, {}});
    return gate.starts();
  };
  EXPECT_EQ(starts("main", offset - 5, 6), (std::vector<u64>{0x10005}));
  EXPECT_EQ(starts("main", offset, 1), (std::vector<u64>{0x10000}));
  EXPECT_TRUE(starts("main", offset - 5, 5).empty()) << "it ends before";
  EXPECT_TRUE(starts("main", offset + 1, 0x1000).empty()) << "it begins behind";
  EXPECT_TRUE(starts("no_such_function", 0, offset + 1).empty());
}

TEST(RegionGate, OpensBehindAsManyInstructionsAsItSkips) {
  const std::vector<std::byte> nops(6, std::byte{0x90});
  RegionGate gate({.skip = 10, .count = 6});
  gate.executed(nops, 6, 0);
  EXPECT_FALSE(gate.is_open());
  gate.executed(std::span(nops).first(4), 4, 0);
  EXPECT_TRUE(gate.is_open());
  gate.executed(nops, 6, 0);
  EXPECT_TRUE(gate.is_over());
}

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
