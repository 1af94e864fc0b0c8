// SPDX-License-Identifier: MIT
// The examples are as short as docs/library.md says they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

namespace pmusim::test {
namespace {

long lines(const char* name) {
  std::ifstream file(std::string(PMUSIM_SOURCE_DIR "/examples/") + name);
  EXPECT_TRUE(file.is_open()) << name;
  return std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
}

TEST(Examples, GetToTheFirstPebsSampleInFewLines) {
  EXPECT_LE(lines("first_pebs.c"), 40);
  EXPECT_LE(lines("first_pebs.cpp"), 30);
}

TEST(Examples, SampleInSixtyLinesOfC) { EXPECT_LE(lines("sampling.c"), 60); }

}  // namespace
}  // namespace pmusim::test
