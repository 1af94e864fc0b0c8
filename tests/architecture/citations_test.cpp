// SPDX-License-Identifier: MIT
// Comments and pages cite what a reader of the tree can open: a page that is there, and a heading that it
// has.
#include <gtest/gtest.h>

#include <vector>

#include "tests/architecture/modules.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;

/// Sources and pages, but for what is built.
std::vector<fs::path> files_that_cite() {
  std::vector<fs::path> files;
  for (const char* page : {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"})
    files.push_back(source_tree() / page);
  for (const char* tree : {"include", "src", "tests", "tools", "bench", "examples", "docs"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_tree() / tree))
      for (const char* extension : {".h", ".cpp", ".c", ".md", ".pmu"})
        if (entry.path().extension() == extension) files.push_back(entry.path());
  return files;
}

/// The text in one line, without the marks that begin lines of a comment.
std::string joined(const fs::path& file) {
  std::istringstream lines(contents(file));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \t/#"));
    text.append(line).append(" ");
  }
  return text;
}

/// The page that a citation in `file` means: named from the top of the tree, or from beside the file.
fs::path page_meant(const fs::path& file, std::string name) {
  while (name.starts_with('/')) name.erase(0, 1);
  const fs::path beside = file.parent_path() / name;
  return file.extension() == ".md" && fs::exists(beside) ? beside : source_tree() / name;
}

bool has_heading(const fs::path& page, const std::string& heading) {
  std::istringstream lines(contents(page));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with('#') && line.find(heading) != line.npos) return true;
  return false;
}

TEST(Citations, OfPagesNamePagesAndHeadingsThatThereAre) {
  static const std::regex citation(R"(([\w./-]*\w\.md)\b(?:, "([^"]+)\")?)");
  unsigned pages = 0, headings = 0;
  for (const fs::path& file : files_that_cite()) {
    const std::string text = joined(file);
    for (std::sregex_iterator found(text.begin(), text.end(), citation), end; found != end; ++found) {
      const fs::path page = page_meant(file, (*found)[1]);
      ++pages;
      ASSERT_TRUE(fs::exists(page)) << file << " cites " << (*found)[1];
      if (!(*found)[2].matched) continue;
      ++headings;
      EXPECT_TRUE(has_heading(page, (*found)[2])) << file << " cites " << (*found)[0];
    }
  }
  EXPECT_GT(pages, 100u);
  EXPECT_GT(headings, 3u);
}

TEST(Citations, OfFilesNameFilesThatThereAre) {  // in the pages; NAME, MODULE and the like stand for any
  static const std::regex path(
      R"(\b(?:include|src|tests|tools|bench|examples|scripts|cmake)/[\w./-]*\.[a-z]+\b)");
  static const std::regex any(R"([A-Z]{3,})");
  unsigned paths = 0;
  for (const fs::path& file : files_that_cite()) {
    const std::string text = file.extension() == ".md" ? joined(file) : "";
    for (std::sregex_iterator found(text.begin(), text.end(), path), end; found != end; ++found) {
      if (std::regex_search(found->str(), any)) continue;
      ++paths;
      EXPECT_TRUE(fs::exists(source_tree() / found->str())) << file << " cites " << found->str();
    }
  }
  EXPECT_GT(paths, 30u);
}

TEST(Citations, NameNoReferenceThatIsNotInTheTree) {
  static const std::regex elsewhere(R"(\(reference[:" ]|\breference [0-9"]|\b[Ss]ection [0-9])");
  for (const fs::path& file : files_that_cite()) {
    const std::string text = joined(file);
    std::smatch found;
    EXPECT_FALSE(file.filename() != "citations_test.cpp" && std::regex_search(text, found, elsewhere))
        << file << ": " << found.str() << found.suffix().str().substr(0, 60);
  }
}

}  // namespace
}  // namespace pmusim::test
