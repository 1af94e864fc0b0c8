// SPDX-License-Identifier: MIT
// docs/fuzzing.md tells of every fuzzer, and of none that is not there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

std::set<std::string> fuzzers_in_the_tree() {
  std::set<std::string> targets;
  constexpr std::string_view ending = "_fuzz";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(PMUSIM_SOURCE_DIR "/tests")) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() != ".cpp" || !stem.ends_with(ending)) continue;
    const std::string module = entry.path().parent_path().filename().string();
    targets.insert(module + "_" + stem.substr(0, stem.size() - ending.size()));
  }
  return targets;
}

std::set<std::string> fuzzers_in_the_table() {
  static const std::regex row(R"(^\| `([a-z0-9_]+)` \|.*)");
  std::set<std::string> targets;
  std::ifstream page(PMUSIM_SOURCE_DIR "/docs/fuzzing.md");
  std::smatch match;
  for (std::string line; std::getline(page, line);)
    if (std::regex_match(line, match, row)) targets.insert(match[1]);
  return targets;
}

TEST(Fuzzers, AreAllInTheTable) {
  EXPECT_GE(fuzzers_in_the_tree().size(), 15u);
  EXPECT_EQ(fuzzers_in_the_tree(), fuzzers_in_the_table());
}

}  // namespace
