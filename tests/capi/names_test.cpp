// SPDX-License-Identifier: MIT
// What C calls by name is what docs/library.md lists.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "pmusim/cpu/retirement.h"
#include "pmusim/pmusim.h"

namespace pmusim::test {
namespace {

/// The names in the sentence of the page that begins so, up to its full stop.
std::set<std::string> names_behind(const std::string& beginning) {
  std::ifstream file(PMUSIM_SOURCE_DIR "/docs/library.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = page.find(beginning) + beginning.size();
  const std::string sentence = page.substr(begin, page.find("`.\n", begin) + 1 - begin);
  static const std::regex quoted("`(\\w+)`");
  std::set<std::string> names;
  for (std::sregex_iterator match(sentence.begin(), sentence.end(), quoted), end; match != end; ++match)
    names.insert((*match)[1]);
  return names;
}

TEST(Names, OfSignalsAreAllOnThePage) {
  const std::set<std::string> names = names_behind("for `pmusim_add_signal`:");
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Signal::count_));
  for (const std::string& name : names) {
    pmusim_instruction instruction{};
    EXPECT_EQ(pmusim_add_signal(&instruction, name.c_str()), PMUSIM_OK) << pmusim_last_error();
  }
}

TEST(Names, OfQuantitiesAreAllOnThePage) {  // but for Quantity::none
  const std::set<std::string> names = names_behind("`pmusim_set_quantity` takes:");
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Quantity::count_) - 1);
  for (const std::string& name : names) {
    pmusim_instruction instruction{};
    EXPECT_EQ(pmusim_set_quantity(&instruction, name.c_str(), 1), PMUSIM_OK) << pmusim_last_error();
  }
}

}  // namespace
}  // namespace pmusim::test
