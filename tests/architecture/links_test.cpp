// SPDX-License-Identifier: MIT
// Pages refer to what there is, and README leads to every page.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/architecture/modules.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;

/// Targets of links within the tree, without "#section".
std::vector<std::string> links_in(const fs::path& page) {
  static const std::regex link(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  const std::string text = contents(page);
  std::vector<std::string> targets;
  for (std::sregex_iterator found(text.begin(), text.end(), link), end; found != end; ++found)
    if (const std::string target = (*found)[1]; !target.starts_with("http")) targets.push_back(target);
  return targets;
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found{source_tree() / "README.md", source_tree() / "CONTRIBUTING.md",
                              source_tree() / "SECURITY.md"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_tree() / "docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

/// Notes and figures for trust say when and at which commit something was measured; the other pages what is
/// true now.
bool is_for_users(const fs::path& page) {
  return page.parent_path().filename() != "notes" && page != source_tree() / "docs/trust.md";
}

TEST(Pages, LinkToFilesThatThereAre) {
  std::size_t links = 0;
  for (const fs::path& page : pages())
    for (const std::string& target : links_in(page)) {
      ++links;
      EXPECT_TRUE(fs::exists(page.parent_path() / target)) << page << " links to " << target;
    }
  EXPECT_GT(links, 50u) << "the search found nothing to check";
}

TEST(Pages, OfUsersSayWhatIsTrueNow) {
  static const std::regex history(
      R"(\bcommit `?[0-9a-f]{7}\b|\(`?[0-9a-f]{7}`?\)|before there were|\bNovember 20\d\d)");
  for (const fs::path& page : pages()) {
    if (!is_for_users(page)) continue;
    const std::string text = contents(page);
    std::smatch found;
    EXPECT_FALSE(std::regex_search(text, found, history)) << page << ": " << found.str();
  }
  const std::string notes = contents(source_tree() / "docs/notes/core-speed.md");
  EXPECT_TRUE(std::regex_search(notes, history)) << "the search would find nothing";
}

TEST(Readme, HasAPageForEveryUnit) {
  std::set<std::string> linked;
  for (const std::string& target : links_in(source_tree() / "README.md")) linked.insert(target);
  for (const char* const unit : {"counters", "lbr", "pebs", "acr", "xsave", "registers", "policies"})
    EXPECT_TRUE(linked.contains(std::string("docs/") + unit + ".md")) << unit;
}

TEST(Readme, ShowsAResultOnItsFirstScreen) {
  const std::string page = contents(source_tree() / "README.md");
  const std::size_t result = page.find("\n# Overhead");
  ASSERT_NE(result, page.npos);
  EXPECT_LE(std::count(page.begin(), page.begin() + result, '\n'), 48);
}

}  // namespace
}  // namespace pmusim::test
