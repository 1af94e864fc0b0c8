// SPDX-License-Identifier: MIT
// Each module has the namespace that docs/architecture.md gives it.
#include <gtest/gtest.h>

#include "tests/architecture/modules.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;

/// Modules without a namespace of their own: whatever they have is within pmusim.
const Modules in_pmusim{"base", "arch",  "cpu", "msr",  "lbr",     "pebs",   "acr",
                        "ibs",  "xsave", "pmu", "core", "session", "replay", "trap"};

/// The namespaces that a file opens at its outermost level.
Modules outermost_namespaces(const fs::path& path) {
  static const std::regex opening(R"(namespace (pmusim[a-z0-9_:]*) \{.*)");
  std::ifstream file(path);
  Modules found;
  std::smatch match;
  for (std::string line; std::getline(file, line);)
    if (std::regex_match(line, match, opening)) found.insert(match[1]);
  return found;
}

bool is_within(const std::string& name, const std::string& outer) {
  return name == outer || name.starts_with(outer + "::");
}

class Namespaces : public testing::TestWithParam<std::string> {};

TEST_P(Namespaces, AreThoseOfTheirModules) {
  const fs::path tree = source_tree() / GetParam();
  const auto modules = modules_of_the_build();
  int seen = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tree)) {
    const std::string module = fs::relative(entry.path(), tree).begin()->string();
    if (!entry.is_regular_file() || !modules.contains(module)) continue;
    for (const std::string& name : outermost_namespaces(entry.path())) {
      ++seen;
      EXPECT_TRUE(is_within(name, in_pmusim.contains(module) ? "pmusim" : "pmusim::" + module))
          << entry.path() << " opens " << name;
    }
  }
  EXPECT_GT(seen, 0) << "the search found nothing to check";
}

INSTANTIATE_TEST_SUITE_P(Trees, Namespaces, testing::Values("include/pmusim", "src"));

}  // namespace
}  // namespace pmusim::test
