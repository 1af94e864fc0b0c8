// SPDX-License-Identifier: MIT
// What fails in scripts by chance: under `set -o pipefail` a pipe has the status of a writer whose reader has
// left before its end, and that depends on who is faster.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/architecture/modules.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;

/// The lines of a script that end a pipe with a reader that may leave early; a line that ends in a pipe goes
/// on in the next.
std::vector<std::string> lines_with_early_readers(const std::string& script) {
  static const std::regex early(
      R"([^|]\|&?\s*(head\b|grep\s+(-\S+\s+)*(-[a-zA-Z]*[qm]|--quiet|--max-count)))");
  static const std::regex continued(R"(\|\s*\\?\n\s*)");
  std::istringstream lines(std::regex_replace(script, continued, "| "));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, early)) found.push_back(line);
  return found;
}

std::vector<fs::path> scripts() {
  std::vector<fs::path> found;
  for (const char* const folder : {".ci", "linux", "machine", "packaging", "scripts", "tests"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_tree() / folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      std::string line;
      std::getline(file, line);
      if (entry.path().extension() == ".sh" || (line.starts_with("#!") && line.ends_with("sh")))
        found.push_back(entry.path());
    }
  return found;
}

TEST(Scripts, ReadPipesToTheirEnd) {
  const std::vector<fs::path> all = scripts();
  EXPECT_GT(all.size(), 20u) << "the search found nothing to check";
  for (const fs::path& script : all)
    for (const std::string& line : lines_with_early_readers(contents(script)))
      ADD_FAILURE() << script << ": " << line;
}

TEST(Scripts, ReadersThatLeaveEarlyWouldBeFound) {
  for (const char* const line :
       {"ls | head -1", "a=$(ls | head -1)", "ls |head", "ls | grep -q x", "ls | grep -qE x",
        "ls | grep -E -q x", "ls | grep -m1 x", "ls | grep --quiet x", "ls |\n  head -1",
        "ls | \\\n  grep -q x", "ls |& head"})
    EXPECT_EQ(lines_with_early_readers(line).size(), 1u) << line;
  for (const char* const line :
       {"ls || head -1 file", "grep -q x file", "ls | sed -n 1p", "ls | grep x >/dev/null", "ls | grep -E x",
        "ls ||\n  grep -q x file", "ls | header"})
    EXPECT_EQ(lines_with_early_readers(line), std::vector<std::string>()) << line;
}

}  // namespace
}  // namespace pmusim::test
