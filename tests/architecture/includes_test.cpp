// SPDX-License-Identifier: MIT
// Which module may include which. The list is the build's; this test also sees headers, which need no
// linking.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/architecture/modules.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;

const Modules hardware{"msr", "lbr", "xsave", "pebs", "acr", "ibs", "pmu"};

const std::map<std::string, Modules> may_include = modules_of_the_build();

/// `visit(file, folder)` for every line of a tree that matches `include`, which catches the folder.
template <class Visit>
void for_each_include(const fs::path& tree, const std::regex& include, Visit visit) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tree)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    std::smatch match;
    for (std::string line; std::getline(file, line);)
      if (std::regex_search(line, match, include)) visit(entry.path(), match[1]);
  }
}

/// Of folders that are modules.
template <class Visit>
void for_each_match(const fs::path& tree, const std::regex& include, Visit visit) {
  for_each_include(tree, include, [&](const fs::path& file, const std::string& folder) {
    if (may_include.contains(folder)) visit(file, folder);
  });
}

/// Of ours, private or not.
const std::regex any_include{R"re(^\s*#\s*include\s*[<"](?:pmusim/)?([a-z0-9]+)/[^">]+[">])re"};
/// Of a header that a module keeps to itself.
const std::regex private_include{R"re(^\s*#\s*include\s*[<"]([a-z0-9]+)/[^">]+[">])re"};

std::string module_of(const fs::path& file, const fs::path& tree) {
  return fs::relative(file, tree).begin()->string();
}

class Includes : public testing::TestWithParam<std::string> {};

TEST_P(Includes, StayWithinTheModulesAllowed) {
  const fs::path tree = source_tree() / GetParam();
  int seen = 0;
  for_each_match(tree, any_include, [&](const fs::path& file, const std::string& included) {
    const std::string module = module_of(file, tree);
    ++seen;
    ASSERT_TRUE(may_include.contains(module)) << file << " is in a module that this test does not know";
    EXPECT_TRUE(included == module || may_include.at(module).contains(included))
        << file << ": module " << module << " must not include " << included << "/";
  });
  EXPECT_GT(seen, 0) << "the search found nothing to check";
}

INSTANTIATE_TEST_SUITE_P(Trees, Includes, testing::Values("include/pmusim", "src"));

TEST(PrivateHeaders, OfTheDriverAreIncludedByNoOtherModule) {
  const fs::path sources = source_tree() / "src";
  int seen = 0;
  for_each_match(sources, private_include, [&](const fs::path& file, const std::string& included) {
    if (included != "driver") return;
    ++seen;
    EXPECT_EQ(module_of(file, sources), "driver") << file;
  });
  EXPECT_GT(seen, 0) << "the search found nothing to check";
}

TEST(PrivateHeaders, AreNothingToUsersOfTheLibrary) {
  for (const char* tree : {"include", "examples"})
    for_each_match(source_tree() / tree, private_include,
                   [](const fs::path& file, const std::string& included) {
                     ADD_FAILURE() << file << " includes a private header of " << included;
                   });
}

TEST(Walls, DriversOfAVendorIncludeWhatAllX86Share) {
  const std::regex of_the_driver(R"re(#include "driver/(\w+)/)re");
  const fs::path driver = source_tree() / "src/driver";
  for (const char* folder : {"x86", "intel", "amd"}) {
    int seen = 0;
    for_each_include(driver / folder, of_the_driver, [&](const fs::path& file, const std::string& included) {
      ++seen;
      EXPECT_TRUE(included == folder || included == "x86") << file << " includes driver/" << included;
    });
    EXPECT_GT(seen, 0) << "the search found nothing to check in " << folder;
  }
}

TEST(Walls, TheDriverSideKnowsTheHardwareOnlyThroughBus) {
  for (const char* module : {"perf", "driver", "events", "perfdata"})
    for (const std::string& unit : hardware)
      EXPECT_FALSE(may_include.at(module).contains(unit)) << module << " -> " << unit;
}

TEST(Walls, NoHardwareUnitKnowsPerf) {
  for (const std::string& unit : hardware)
    for (const char* module : {"perf", "driver", "perfdata", "events", "session"})
      EXPECT_FALSE(may_include.at(unit).contains(module)) << unit << " -> " << module;
}

TEST(Walls, HardwareUnitsDoNotCallEachOther) {
  for (const char* unit : {"lbr", "xsave", "pebs", "acr", "ibs"})
    for (const char* other : {"lbr", "xsave", "pebs", "acr", "ibs", "pmu"})
      EXPECT_FALSE(may_include.at(unit).contains(other)) << unit << " -> " << other;
}

/// What each names, to what it leads: a file to those that it includes, or a module to those that it may.
using Graph = std::map<std::string, std::set<std::string>>;

/// Takes away what leads nowhere, as long as there is any: what is left is on a circle, or leads to one.
std::set<std::string> on_circles(Graph graph) {
  const auto leads_on = [&](const std::string& name) { return graph.contains(name); };
  while (std::erase_if(graph,
                       [&](const auto& node) { return std::ranges::none_of(node.second, leads_on); }) != 0)
    continue;
  std::set<std::string> left;
  for (const auto& [name, leads_to] : graph) left.insert(name);
  return left;
}

/// Our headers by the names under which they are included.
Graph headers_of_the_tree() {
  static const std::regex include(R"re(^\s*#\s*include\s*"([a-z0-9_/]+\.h)")re");
  Graph headers;
  for (const char* tree : {"include", "src"})
    for_each_include(source_tree() / tree, include, [&](const fs::path& file, const std::string& included) {
      if (file.extension() == ".h")
        headers[fs::relative(file, source_tree() / tree).string()].insert(included);
    });
  return headers;
}

TEST(Circles, AreNoneAmongModules) {
  EXPECT_EQ(on_circles(may_include), std::set<std::string>{});
  EXPECT_EQ(on_circles({{"a", {"b"}}, {"b", {"c", "d"}}, {"c", {"b"}}, {"d", {}}}),
            (std::set<std::string>{"a", "b", "c"}));
}

TEST(Circles, AreNoneAmongHeaders) {
  const Graph headers = headers_of_the_tree();
  EXPECT_GT(headers.size(), 300u) << "the search found little to check";
  EXPECT_EQ(on_circles(headers), std::set<std::string>{});
}

TEST(Modules, AreThoseOfTheArchitecturePage) {
  static const std::regex row(R"(\| `(\w+)` \|.*\| ([a-z0-9 -]+) \|)");
  std::istringstream page(contents(source_tree() / "docs/architecture.md"));
  std::map<std::string, Modules> described;
  std::smatch match;
  for (std::string line; std::getline(page, line);)
    if (std::regex_match(line, match, row))
      described[match[1]] = match[2] == "-" ? Modules{} : words(match[2]);
  EXPECT_EQ(described, may_include);
}

}  // namespace
}  // namespace pmusim::test
