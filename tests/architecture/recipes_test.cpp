// SPDX-License-Identifier: MIT
// What other people's tools read of this tree: recipes of package managers.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "pmusim/version.h"
#include "tests/architecture/modules.h"

namespace pmusim::test {
namespace {

TEST(VcpkgRecipe, HasTheVersionOfTheTree) {
  const std::string recipe = contents(source_tree() / "packaging/vcpkg/pmusim/vcpkg.json");
  EXPECT_NE(recipe.find("\"version\": \"" + std::string(version) + "\""), std::string::npos) << recipe;
}

/// Parts of Boost that the hardware includes, which is what the recipe builds, as vcpkg names its packages of
/// them.
std::set<std::string> included_boost() {
  static const std::regex include(R"(#include <boost/([a-z_]+)[/.])");
  Modules modules = modules_of_the_build().at("pmu");
  modules.insert("pmu");
  std::set<std::string> found;
  for (const char* const tree : {"include/pmusim", "src"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_tree() / tree)) {
      const std::string module =
          std::filesystem::relative(entry.path(), source_tree() / tree).begin()->string();
      if (!entry.is_regular_file() || !modules.contains(module)) continue;
      const std::string text = contents(entry.path());
      for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match)
        found.insert("boost-" + (*match)[1].str());
    }
  return found;
}

TEST(VcpkgRecipe, NamesThePartsOfBoostThatTheHardwareIncludes) {
  const std::string recipe = contents(source_tree() / "packaging/vcpkg/pmusim/vcpkg.json");
  static const std::regex named(R"("(boost-[a-z-]+)\")");
  const std::set<std::string> in_recipe = [&] {
    std::set<std::string> found;
    for (std::sregex_iterator match(recipe.begin(), recipe.end(), named), end; match != end; ++match)
      found.insert((*match)[1].str());
    return found;
  }();
  EXPECT_EQ(in_recipe, included_boost());
}

}  // namespace
}  // namespace pmusim::test
