// SPDX-License-Identifier: MIT
// One guard each between inputs made to harm and what they would harm: who goes round it is found here.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/architecture/modules.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;

struct Guard {
  const char* name;
  std::vector<std::string> round_it;  ///< what code says that does without
  /// Folders and files that may: the guard, and who opens what no input names.
  std::vector<std::string> may;
  const char* unless = nullptr;  ///< what is said beside it where it goes through the guard
};

const std::vector<Guard> guards{
    {"files of others are opened by InputFile",
     {"std::ifstream", "std::fstream", "fopen(", " ::open(", "(::open(", "openat("},
     {"src/base/input_file.cpp", "src/base/output_file.cpp",
      // What the kernel tells of a process that is watched, in /proc.
      "src/trace/tracee.cpp", "src/live/page_map.cpp", "src/live/event_descriptor.cpp", "src/qemu/plugin/",
      // Standard streams that were closed.
      "tools/output.cpp"}},
    {"files are written by OutputFile",
     {"ofstream", "creat("},
     {// Files of the folder that a program sees in place of /sys.
      "src/live/mounts.cpp"}},
    {"JSON is read by JsonFile",
     {"json::parse(", "json::accept(", "json::sax_parse(", "json::from_", "Json::parse("},
     {"tools/json_file.cpp"}},
    {"names are demangled by demangled()", {"__cxa_demangle"}, {"src/base/demangle.cpp"}},
    {"DWARF, which names other files, is opened behind unfit_side_file()",
     {"dwarf_begin", "dwfl_", "dwarf_setalt"},
     {"src/symbols/debug_information.cpp"}},
    {"ELF is read from what InputFile has opened", {"elf_begin(", "elf_open("}, {}, "->descriptor()"},
};

bool goes_round(const std::string& code, const Guard& guard) {
  if (guard.unless != nullptr && code.find(guard.unless) != std::string::npos) return false;
  return std::ranges::any_of(guard.round_it,
                             [&](const std::string& word) { return code.find(word) != std::string::npos; });
}

bool may(const Guard& guard, const std::string& line) {
  return std::ranges::any_of(guard.may, [&](const std::string& place) { return line.starts_with(place); });
}

/// "FILE: LINE" of lines below include, src and tools, comments left out.
std::vector<std::string> lines_that_go_round(const Guard& guard) {
  std::vector<std::string> found;
  for (const char* const tree : {"include", "src", "tools"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_tree() / tree)) {
      const std::string file = fs::relative(entry.path(), source_tree()).string();
      if (!file.ends_with(".h") && !file.ends_with(".cpp")) continue;
      std::istringstream lines(contents(entry.path()));
      for (std::string line; std::getline(lines, line);)
        if (goes_round(line.substr(0, line.find("//")), guard)) found.push_back(file + ": " + line);
    }
  return found;
}

TEST(Guards, NobodyGoesRoundThem) {
  for (const Guard& guard : guards)
    for (const std::string& line : lines_that_go_round(guard))
      EXPECT_TRUE(may(guard, line)) << guard.name << ": " << line;
}

TEST(Guards, WouldBeMissedWhereTheyStand) {
  for (const Guard& guard : guards)
    for (const std::string& place : guard.may)
      EXPECT_TRUE(std::ranges::any_of(lines_that_go_round(guard),
                                      [&](const std::string& line) { return line.starts_with(place); }))
          << guard.name << ": " << place << " needs no leave";
}

}  // namespace
}  // namespace pmusim::test
