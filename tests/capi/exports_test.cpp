// SPDX-License-Identifier: MIT
// The functions of the C header are those that the shared library exports, and the header is C++, too.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "pmusim/pmusim.h"

namespace pmusim::test {
namespace {

std::string contents(const char* path) {
  std::ostringstream text;
  text << std::ifstream(std::string(PMUSIM_SOURCE_DIR "/") + path).rdbuf();
  return text.str();
}

std::set<std::string> names(const std::string& text, const char* expression) {
  const std::regex pattern(expression);
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    found.insert((*match)[1]);
  return found;
}

TEST(Exports, AreTheFunctionsOfTheHeader) {
  const auto declared = names(contents("include/pmusim/pmusim.h"), R"(\nPMUSIM_API [^;(]*?(\w+)\()");
  EXPECT_TRUE(declared.contains("pmusim_create"));
  EXPECT_EQ(names(contents("src/capi/exports.map"), R"(    (pmusim_\w+);)"), declared);
}

TEST(Exports, CarryTheNumberOfTheInterface) {
  const std::string node = "PMUSIM_" + std::to_string(PMUSIM_ABI_VERSION) + " {";
  EXPECT_NE(contents("src/capi/exports.map").find(node), std::string::npos);
}

}  // namespace
}  // namespace pmusim::test
