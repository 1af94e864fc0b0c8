// SPDX-License-Identifier: MIT
// One guard each between inputs made to harm and what they would harm: who goes round it is found here.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/architecture/modules.h"
#include "tests/architecture/shown_names.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;

/// Lines of a source that go round a guard which no word of its own shows.
using Search = std::vector<std::string> (*)(const std::string& file, const std::string& code);

struct Guard {
  const char* name;
  std::vector<std::string> round_it;  ///< what code says that does without
  /// Folders and files that may: the guard, and who opens what no input names.
  std::vector<std::string> may;
  const char* unless = nullptr;  ///< what is said beside it where it goes through the guard
  Search search = nullptr;       ///< in place of words
};

/// Of the sources that make texts for terminals.
std::vector<std::string> lines_with_names_as_they_are(const std::string& file, const std::string& code) {
  const bool makes_texts =
      file.starts_with("tools/") || file.starts_with("src/annotate/") || file.starts_with("src/why/");
  std::vector<std::string> lines;
  if (!makes_texts) return lines;
  for (const std::size_t at : names_put_as_they_are(without_literals(code))) {
    const std::size_t begin = code.rfind('\n', at) + 1;
    const std::string line = code.substr(begin, code.find('\n', at) - begin);
    lines.push_back(line.substr(line.find_first_not_of(' ')));
  }
  return lines;
}

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
    {"names of others get into texts through printable()",
     {},
     {// Names that this project gives: of models, facts, parameters, registers, events in its tables,
      // metrics, formats, fields, streams, places of CPUs.
      "tools/command_events.cpp", "tools/command_list.cpp", "tools/command_models.cpp",
      "tools/command_msr.cpp", "tools/command_policies.cpp", "tools/command_trace_formats.cpp",
      "tools/model_difference.cpp", "tools/model_page.cpp", "tools/parameter_page.cpp",
      "tools/register_options.cpp", "tools/command_experiment.cpp: model.title",
      "tools/command_script.cpp: for (const FieldRow&",
      "tools/command_stat.cpp: text += fmt::format(\"{:<50} {:<11} {:<26} {}\\n\", metric->name",
      "tools/script_text.cpp: put(\"{:>5}:0x{:x} \", r.name",
      "tools/script_text.cpp: put(\" {:>5}:0x\", r.name",
      "tools/stat_text.cpp: if (place.kind == \"cpu\") return",
      "tools/stat_text.cpp: return fmt::format(\"{:<{}} {:>4} \", place.name",
      "tools/trace_dump.cpp: for (const Change&", "tools/trace_dump.cpp: for (const RegisterText&",
      "tools/trace_info.cpp: text += fmt::format(\"{:<20}{:>18}{:>16}{:>24.4f}\\n\", s.name",
      "src/annotate/perf_data.cpp: if ((filter & kind.bit) != 0)",
      "src/why/text.cpp: text_ += fmt::format(\"{}{}{}\\n\", indent, node.metric->name",
      "src/why/text.cpp: text_ += fmt::format(\"{}    {}\\n\", indent, "
      "topdown.tree->events()[event].parsed.name",
      // Numbers.
      "src/annotate/export.cpp: text_ += fmt::format(\"fi={}",
      "src/annotate/export.cpp: return fmt::format(\"({}) {}\", report_.symbols[symbol].module + 1",
      "src/annotate/packed_function.cpp: put(where_,", "tools/stat_text.cpp: result.command->repeat > 1",
      // Parts of what goes through it as a whole.
      "src/annotate/difference.cpp: result_.notes.push_back(",
      "src/annotate/report_builder.cpp: report_.notes.push_back(",
      "src/annotate/ranking_table.cpp: if (ranking == Ranking::threads) add(sums[",
      "src/annotate/sharing_output.cpp: if (access.file.empty()) return",
      "src/annotate/sharing_output.cpp: return fmt::format(\"{}:{}\", base_name(access.file)",
      "src/why/memory_report.cpp: return", "src/why/memory_report.cpp: : fmt::format(",
      "src/why/memory_report.cpp: [](const Row& row)",
      "tools/command_diff.cpp: return {fmt::format(\"{} on {}\", first,",
      "tools/stat_values.cpp: row.owner = "},
     nullptr,
     lines_with_names_as_they_are},
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
      const std::string code = contents(entry.path());
      if (guard.search != nullptr)
        for (const std::string& line : guard.search(file, code)) found.push_back(file + ": " + line);
      std::istringstream lines(code);
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
  for (const Guard& guard : guards) {
    const std::vector<std::string> lines = lines_that_go_round(guard);
    for (const std::string& place : guard.may)
      EXPECT_TRUE(
          std::ranges::any_of(lines, [&](const std::string& line) { return line.starts_with(place); }))
          << guard.name << ": " << place << " needs no leave";
  }
}

// Of code as it is, and of code as somebody could write it.
TEST(Guards, NamesInTextsAreMissedWhereTheirGuardIsTakenAway) {
  const std::string guard = "printable(";
  for (const char* const file :
       {"src/annotate/annotation_text.cpp", "src/annotate/difference_output.cpp",
        "src/annotate/ranking_text.cpp", "src/annotate/sharing_output.cpp", "src/why/memory_report.cpp",
        "src/why/text.cpp", "tools/command_scenario.cpp", "tools/record_summary.cpp", "tools/script_text.cpp",
        "tools/trace_info.cpp"}) {
    const std::string code = without_literals(contents(source_tree() / file));
    const std::size_t before = names_put_as_they_are(code).size();
    std::size_t missed = 0;
    for (std::size_t at = code.find(guard); at != code.npos; at = code.find(guard, at + 1)) {
      std::string bare = code;
      if (names_put_as_they_are(bare.erase(at, guard.size() - 1)).size() > before) ++missed;
    }
    EXPECT_GT(missed, 0u) << file;
  }
}

TEST(Guards, NamesInTextsAreFoundInCalls) {
  const auto found = [](const char* code) { return names_put_as_they_are(without_literals(code)).size(); };
  EXPECT_EQ(found("text += fmt::format(\"{} {}\", n, symbol.name);"), 1u);
  EXPECT_EQ(found("fmt::print(\"{}\", base_name(report->modules[at].path));"), 1u);
  EXPECT_EQ(found("put(\"{}\", printable(a.name), b.name);"), 1u);
  EXPECT_EQ(found("put(\"(\", printable(base_name(a.path)));  // b.name"), 0u);
  EXPECT_EQ(found("return Failure(Error{fmt::format(\"{}: no file\", a.path)});"), 0u);
  EXPECT_EQ(found("if (a.name == b.name) fmt::print(\"{} 1'000 {}\", a.name.size(), \"a.name\");"), 0u);
}

}  // namespace
}  // namespace pmusim::test
