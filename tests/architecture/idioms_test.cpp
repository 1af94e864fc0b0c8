// SPDX-License-Identifier: MIT
// What nobody writes any more: registers reached through void pointers, and code that asks which core it is
// on, or which number a PEBS format has, instead of asking for a fact.
#include <gtest/gtest.h>

#include <vector>

#include "tests/architecture/modules.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;

/// "FILE: LINE" of every line below a folder that matches, comments left out.
std::vector<std::string> lines_that_match(const std::string& folder, const std::regex& wanted) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_tree() / folder)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    std::istringstream lines(contents(entry.path()));
    for (std::string line; std::getline(lines, line);)
      if (std::regex_search(line.substr(0, line.find("//")), wanted))
        found.push_back(fs::relative(entry.path(), source_tree()).string() + ": " + line);
  }
  return found;
}

/// Modules and folders that may say what a core or a format is.
bool defines_cores(const std::string& where) {
  for (const char* folder : {"include/pmusim/cpu/", "src/cpu/", "include/pmusim/arch/", "src/arch/",
                             "src/driver/intel/cores/", "src/driver/amd/cores/"})
    if (where.starts_with(folder)) return true;
  return false;
}

void expect_only_where_cores_are_defined(const std::regex& question) {
  for (const char* tree : {"include", "src", "tools"})
    for (const std::string& line : lines_that_match(tree, question)) EXPECT_TRUE(defines_cores(line)) << line;
}

TEST(Idioms, OnlyModelsUnitsAndDriversAskForAVendor) {
  const std::regex question(R"(\bVendor::)");
  for (const char* module : {"base",   "arch",     "observe", "scenario", "program", "explore", "x86",
                             "trace",  "qemu",     "formats", "core",     "replay",  "trap",    "perf",
                             "events", "perfdata", "symbols", "annotate", "session", "live"})
    EXPECT_EQ(lines_that_match(std::string("src/") + module, question), std::vector<std::string>()) << module;
}

TEST(Idioms, NoRegisterIsReachedThroughAVoidPointer) {
  const std::regex void_pointer(R"(\bvoid\s*\*)");
  for (const char* module : {"msr", "lbr", "pebs", "acr", "xsave", "ibs", "pmu"})
    EXPECT_EQ(lines_that_match(std::string("src/") + module, void_pointer), std::vector<std::string>());
  // The C interface has no other way to hand over memory and contexts.
  for (const std::string& line : lines_that_match("include", void_pointer))
    EXPECT_TRUE(line.starts_with("include/pmusim/pmusim.h:")) << line;
}

TEST(Idioms, NobodyAsksWhichMicroarchitectureItIs) {
  expect_only_where_cores_are_defined(std::regex(R"(\bMicroarchitecture::(?!unknown\b)\w)"));
}

TEST(Idioms, NobodyComparesNumbersOfPebsFormats) {
  expect_only_where_cores_are_defined(std::regex(
      R"((\bpebs_format|\bpebs\.format|\boptions\.format|[^\w.]format)(\(\))?\s*(==|!=|<=|>=|<|>)\s*\d)"));
}

/// In a joined build one at file scope would reach into the sources behind it. Each core has a namespace of
/// its own; the C interface is global functions, and every source of it has the same directive; the plugin is
/// one source.
TEST(Idioms, NoUsingDirectiveStandsAtFileScope) {
  for (const char* tree : {"include", "src", "tools"})
    for (const std::string& line : lines_that_match(tree, std::regex("^using namespace")))
      EXPECT_TRUE(line.find("/cores/") != line.npos || line.starts_with("src/qemu/plugin/") ||
                  (line.starts_with("src/capi/") && line.ends_with(": using namespace pmusim;")))
          << line;
}

/// The names that it brings would be nearer to tests behind it than their own: these compile, and mean
/// something else.
TEST(Idioms, ATestWithAUsingDirectiveHasItsOwnNamespace) {
  for (const std::string& line : lines_that_match("tests", std::regex("^using namespace"))) {
    const fs::path file = line.substr(0, line.find(':'));
    if (!file.string().ends_with("_test.cpp")) continue;
    EXPECT_NE(contents(source_tree() / file).find("::" + file.stem().string() + " {\n"), std::string::npos)
        << line;
  }
}

TEST(Idioms, NamesOfTestsHaveAtMost60Letters) {
  const std::regex macro(R"(\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\))");
  std::size_t tests = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_tree() / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = contents(entry.path());
    for (std::sregex_iterator test(text.begin(), text.end(), macro), end; test != end; ++test, ++tests) {
      const std::string name = (*test)[1].str() + "." + (*test)[2].str();
      EXPECT_LE(name.size(), 60u) << name << " in " << entry.path();
    }
  }
  EXPECT_GT(tests, 2000u);
}

TEST(Idioms, TheQuestionsWouldBeFound) {
  EXPECT_FALSE(lines_that_match("src", std::regex("^using namespace")).empty());
  EXPECT_FALSE(lines_that_match("src/cpu", std::regex(R"(\bMicroarchitecture::(?!unknown\b)\w)")).empty());
  EXPECT_FALSE(lines_that_match("include/pmusim/arch", std::regex(R"(\bformat\s*<=\s*\d)")).empty());
}

}  // namespace
}  // namespace pmusim::test
