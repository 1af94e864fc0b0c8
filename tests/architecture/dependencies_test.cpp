// SPDX-License-Identifier: MIT
// docs/licences.md names what the build finds, no more and no less.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>

#include "tests/architecture/modules.h"

namespace pmusim::test {
namespace {

/// The entries of `set(pmusim_COMPONENT_KIND ...)`: "Boost 1.74" is Boost, "ZSTD libzstd" of pkg-config
/// libzstd.
Modules names_in_the_build() {
  static const std::regex list(R"(set\(pmusim_\w+_(packages|modules|libraries)([^)]*)\))"),
      entry(R"re("([^"]+)"|([^\s"]+))re");
  const std::string build = contents(source_tree() / "cmake/PmusimDependencies.cmake");
  Modules names;
  for (std::sregex_iterator found(build.begin(), build.end(), list), end; found != end; ++found) {
    const std::string entries = (*found)[2];
    for (std::sregex_iterator name(entries.begin(), entries.end(), entry); name != end; ++name) {
      std::istringstream text((*name)[1].matched ? (*name)[1] : (*name)[2]);
      std::string first, second;
      text >> first >> second;
      names.insert((*found)[1] == "modules" ? second : first);
    }
  }
  return names;
}

Modules names_on_the_page() {
  static const std::regex row(R"(\n\| `(\S+)` \|)");
  const std::string page = contents(source_tree() / "docs/licences.md");
  Modules names;
  for (std::sregex_iterator found(page.begin(), page.end(), row), end; found != end; ++found)
    names.insert((*found)[1]);
  return names;
}

TEST(LicencesPage, NamesEveryDependencyOfTheBuild) {
  EXPECT_FALSE(names_in_the_build().empty());
  EXPECT_EQ(names_on_the_page(), names_in_the_build());
}

/// A dependency found elsewhere would be on no list.
TEST(Build, FindsItsDependenciesInOnePlace) {
  static const std::regex search(R"((find_package|find_library|pkg_check_modules)\((\w+))");
  for (const char* const file : {"CMakeLists.txt", "tools/CMakeLists.txt"}) {
    const std::string build = contents(source_tree() / file);
    std::smatch found;
    EXPECT_FALSE(std::regex_search(build, found, search)) << file << ": " << found.str();
  }
}

}  // namespace
}  // namespace pmusim::test
