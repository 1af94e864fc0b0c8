// SPDX-License-Identifier: MIT
// docs/policies.md is the table of policies, and the table has the members in their order and by their names.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "pmusim/cpu/model.h"

namespace pmusim {
namespace {

/// Of the lines from `first` to the next empty one, or of all.
std::vector<std::string> lines_that_match(const char* file, const std::regex& wanted,
                                          const std::string& first = {}) {
  std::vector<std::string> found;
  std::ifstream text(std::string(PMUSIM_SOURCE_DIR "/") + file);
  std::smatch match;
  std::string line;
  while (line != first && std::getline(text, line)) continue;
  while (std::getline(text, line) && (first.empty() || !line.empty()))
    if (std::regex_search(line, match, wanted)) found.push_back(match[1]);
  return found;
}

std::string row_of(const PolicyInfo& policy) {
  const Policies defaults;
  std::string row = "| `";
  row.append(policy.name).append("` | ").append(std::to_string(defaults.*policy.member)).append(" | ");
  row.append(std::to_string(policy.greatest)).append(" | ").append(policy.meaning).append(" | ");
  return row.append(policy.source).append(" |");
}

TEST(PoliciesPage, IsTheTable) {
  std::vector<std::string> rows;
  for (const PolicyInfo& policy : policy_table()) rows.push_back(row_of(policy));
  EXPECT_EQ(lines_that_match("docs/policies.md", std::regex("^(\\| `.*)$")), rows);
}

TEST(PolicyTable, NamesTheMembersAsTheStructureDoes) {
  std::vector<std::string> names;
  for (const PolicyInfo& policy : policy_table()) names.emplace_back(policy.name);
  EXPECT_EQ(lines_that_match("include/pmusim/cpu/model.h", std::regex("^  u32 (\\w+) = \\d+;"),
                             "struct Policies {"),
            names);
}

}  // namespace
}  // namespace pmusim
