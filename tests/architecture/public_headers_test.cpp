// SPDX-License-Identifier: MIT
// What a user of the library sees: headers that say what they are for, with examples. That these compile is
// seen where this program is built (tests/CMakeLists.txt).
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/architecture/modules.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;

/// Whether the first thing that a header declares, or all of it, has a comment in front.
bool begins_with_a_comment(const std::string& header) {
  static const std::regex preamble(
      R"(#.*|\s*|namespace [a-z0-9_:]+ \{|\}.*|(class|struct) \w+;|using .*|enum class \w+ : \w+;)");
  std::istringstream lines(header);
  for (std::string line; std::getline(lines, line);)
    if (!std::regex_match(line, preamble)) return line.starts_with("//");
  return false;
}

TEST(PublicHeaders, SayWhatTheyAreFor) {
  int seen = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_tree() / "include")) {
    if (!entry.is_regular_file()) continue;
    ++seen;
    EXPECT_TRUE(begins_with_a_comment(contents(entry.path()))) << entry.path();
  }
  EXPECT_GT(seen, 0) << "the search found nothing to check";
}

/// Definitions of classes that stand without a comment directly in front.
std::vector<std::string> uncommented_types(const std::string& header) {
  static const std::regex type(R"((struct|class) (\w+)[^;]*\{.*)"), template_head("template <.*>");
  std::istringstream lines(header);
  std::vector<std::string> found;
  std::smatch match;
  bool commented = false;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, type) && !commented) found.push_back(match[2]);
    if (!std::regex_match(line, template_head)) commented = line.starts_with("///");
  }
  return found;
}

TEST(PublicHeaders, SayWhatEachOfTheirTypesIs) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_tree() / "include")) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(uncommented_types(contents(entry.path())), std::vector<std::string>{}) << entry.path();
  }
  EXPECT_EQ(uncommented_types("/// Has one.\ntemplate <class T>\nstruct A {};\n\nclass B final {\n"),
            std::vector<std::string>{"B"});
}

/// Headers that a program or a page of ours for users includes.
std::set<std::string> shown_in_use() {
  static const std::regex include(R"re(#include [<"]pmusim/([a-z0-9_/]+\.h)[>"])re");
  std::set<std::string> found;
  const auto look = [&](const fs::path& file) {
    const std::string text = contents(file);
    for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match)
      found.insert((*match)[1]);
  };
  look(source_tree() / "README.md");
  for (const fs::directory_entry& page : fs::directory_iterator(source_tree() / "docs"))
    if (page.is_regular_file()) look(page.path());
  for (const char* programs : {"examples", "tests/consumer"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_tree() / programs))
      if (entry.is_regular_file()) look(entry.path());
  return found;
}

std::set<std::string> public_headers() {
  const fs::path tree = source_tree() / "include/pmusim";
  std::set<std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tree))
    if (entry.is_regular_file()) found.insert(fs::relative(entry.path(), tree).string());
  return found;
}

TEST(PublicHeaders, AreFewEnoughToKnow) { EXPECT_LE(public_headers().size(), 35u); }

TEST(PublicHeaders, AreEachShownInUse) {
  const std::set<std::string> shown = shown_in_use();
  for (const std::string& header : public_headers())
    EXPECT_TRUE(shown.contains(header))
        << header << ": no example, page or program of a consumer includes it";
}

class EntryHeader : public testing::TestWithParam<std::string_view> {};

TEST_P(EntryHeader, ShowsAnExample) {
  const std::string text = contents(source_tree() / "include/pmusim" / GetParam());
  const std::size_t begin = text.find("/// @code\n");
  ASSERT_NE(begin, text.npos);
  EXPECT_NE(text.find("/// @endcode\n", begin), text.npos);
}

INSTANTIATE_TEST_SUITE_P(Modules, EntryHeader,
                         testing::Values("annotate/report.h", "cpu/core_parameters.h", "cpu/model.h",
                                         "driver/drivers.h", "events/parser.h", "perf/core.h",
                                         "replay/replay.h", "perfdata/reader.h", "session/record.h",
                                         "session/stat.h", "explore/explore.h", "pmu/pmu.h", "trace/trace.h",
                                         "trap/trap.h", "version.h", "vpmu/vpmu.h"));

}  // namespace
}  // namespace pmusim::test
