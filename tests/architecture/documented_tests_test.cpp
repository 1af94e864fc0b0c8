// SPDX-License-Identifier: MIT
// What docs/perf-abi-notes.md claims of Linux has the test that it names.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/architecture/modules.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;

/// The heads of all tests as "(Suite,Name)", whatever lines they stand on.
std::string test_heads() {
  std::string heads;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(PMUSIM_SOURCE_DIR "/tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = contents(entry.path());
    for (std::size_t at = text.find("\nTEST"); at != text.npos; at = text.find("\nTEST", at + 1))
      for (const char c : text.substr(at, text.find(')', at) + 1 - at))
        if (c != ' ' && c != '\n') heads += c;
  }
  return heads;
}

/// "`Suite.Name`" and "`Suite.*`" of a line.
std::vector<std::string> tests_named_in(const std::string& line) {
  static const std::regex quoted(R"(`([A-Z]\w+\.(?:[A-Z]\w+|\*))`)");
  std::vector<std::string> names;
  for (std::sregex_iterator match(line.begin(), line.end(), quoted), end; match != end; ++match)
    names.push_back((*match)[1]);
  return names;
}

bool exists(const std::string& heads, const std::string& test) {
  const std::size_t dot = test.find('.');
  const std::string suite = "(" + test.substr(0, dot) + ",", name = test.substr(dot + 1);
  return heads.find(name == "*" ? suite : suite + name + ")") != heads.npos;
}

TEST(PerfAbiNotes, NameTestsThatThereAre) {
  const std::string heads = test_heads();
  std::istringstream notes(contents(PMUSIM_SOURCE_DIR "/docs/perf-abi-notes.md"));
  unsigned named = 0;
  for (std::string line; std::getline(notes, line);)
    for (const std::string& test : tests_named_in(line)) {
      ++named;
      EXPECT_TRUE(exists(heads, test)) << test;
    }
  EXPECT_GT(named, 20u);
}

TEST(PerfAbiNotes, NameATestForEveryDifferenceBetweenReleases) {
  std::istringstream notes(contents(PMUSIM_SOURCE_DIR "/docs/perf-abi-notes.md"));
  std::string line;
  while (std::getline(notes, line) && !line.starts_with("| Since |")) {
  }
  std::getline(notes, line);  // the rule below the heads
  unsigned rows = 0;
  for (; std::getline(notes, line) && line.starts_with('|'); ++rows)
    EXPECT_FALSE(tests_named_in(line).empty()) << line;
  EXPECT_GT(rows, 15u);
}

}  // namespace
}  // namespace pmusim::test
