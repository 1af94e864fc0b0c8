// SPDX-License-Identifier: MIT
// Every long option of perf 6.12's record and stat: works, or says why not and what to use.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "command.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;

/// A row of the table that `pmusim help perf-options` prints.
struct Row {
  std::string command, option, fate, sentence;
  std::vector<std::string> example;
};

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string without_quotes(const std::string& cell) { return cell.substr(1, cell.size() - 2); }

std::string table() { return run({pmusim(), "help", "perf-options"}).out; }

std::vector<Row> rows() {
  std::vector<Row> all;
  std::string command;
  for (const std::string& line : lines(table())) {
    if (line.starts_with("### perf ")) command = line.substr(9);
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 2; at < line.size();) {
      const std::size_t end = line.find(" |", at);
      cells.push_back(line.substr(at, end - at));
      at = end + 3;
    }
    const std::string names = without_quotes(cells.at(0));
    all.push_back({command, names.substr(names.find("--") + 2), cells.at(2),
                   cells.size() > 3 ? cells.at(3) : "", words_of(without_quotes(cells.at(1)))});
  }
  return all;
}

std::set<std::string> options_in_table(const std::string& command) {
  std::set<std::string> names;
  for (const Row& row : rows())
    if (row.command == command) names.insert(row.option);
  return names;
}

/// From perf-record(1) and perf-stat(1) of Linux 6.12.
const std::set<std::string> record_options{"affinity",
                                           "aio",
                                           "all-cgroups",
                                           "all-cpus",
                                           "all-kernel",
                                           "all-user",
                                           "aux-sample",
                                           "branch-any",
                                           "branch-filter",
                                           "buildid-all",
                                           "buildid-mmap",
                                           "call-graph",
                                           "cgroup",
                                           "clang-opt",
                                           "clang-path",
                                           "clockid",
                                           "code-page-size",
                                           "compression-level",
                                           "control",
                                           "count",
                                           "cpu",
                                           "data",
                                           "data-page-size",
                                           "debuginfod",
                                           "delay",
                                           "dry-run",
                                           "event",
                                           "exclude-perf",
                                           "filter",
                                           "freq",
                                           "group",
                                           "intr-regs",
                                           "kcore",
                                           "kernel-callchains",
                                           "max-size",
                                           "mmap-flush",
                                           "mmap-pages",
                                           "namespaces",
                                           "no-bpf-event",
                                           "no-buffering",
                                           "no-buildid",
                                           "no-buildid-cache",
                                           "no-inherit",
                                           "no-samples",
                                           "num-thread-synthesize",
                                           "off-cpu",
                                           "output",
                                           "overwrite",
                                           "per-thread",
                                           "period",
                                           "phys-data",
                                           "pid",
                                           "proc-map-timeout",
                                           "quiet",
                                           "raw-samples",
                                           "realtime",
                                           "running-time",
                                           "sample-cpu",
                                           "sample-identifier",
                                           "setup-filter",
                                           "snapshot",
                                           "stat",
                                           "strict-freq",
                                           "switch-events",
                                           "switch-max-files",
                                           "switch-output",
                                           "switch-output-event",
                                           "synth",
                                           "tail-synthesize",
                                           "threads",
                                           "tid",
                                           "timestamp",
                                           "timestamp-boundary",
                                           "timestamp-filename",
                                           "transaction",
                                           "uid",
                                           "user-callchains",
                                           "user-regs",
                                           "verbose",
                                           "vmlinux",
                                           "weight"};
const std::set<std::string> stat_options{"all-cpus",
                                         "all-kernel",
                                         "all-user",
                                         "append",
                                         "big-num",
                                         "bpf-attr-map",
                                         "bpf-counters",
                                         "bpf-prog",
                                         "cgroup",
                                         "control",
                                         "cpu",
                                         "cputype",
                                         "delay",
                                         "detailed",
                                         "event",
                                         "field-separator",
                                         "filter",
                                         "for-each-cgroup",
                                         "group",
                                         "hybrid-merge",
                                         "interval-clear",
                                         "interval-count",
                                         "interval-print",
                                         "iostat",
                                         "json-output",
                                         "log-fd",
                                         "metric-no-group",
                                         "metric-no-merge",
                                         "metric-no-threshold",
                                         "metric-only",
                                         "metrics",
                                         "no-aggr",
                                         "no-csv-summary",
                                         "no-inherit",
                                         "no-merge",
                                         "null",
                                         "output",
                                         "per-cache",
                                         "per-cluster",
                                         "per-core",
                                         "per-die",
                                         "per-node",
                                         "per-socket",
                                         "per-thread",
                                         "percore-show-thread",
                                         "pid",
                                         "post",
                                         "pre",
                                         "quiet",
                                         "repeat",
                                         "scale",
                                         "smi-cost",
                                         "summary",
                                         "sync",
                                         "table",
                                         "td-level",
                                         "tid",
                                         "timeout",
                                         "topdown",
                                         "transaction",
                                         "verbose"};

std::set<std::string> missing(const std::set<std::string>& wanted, const std::set<std::string>& present) {
  std::set<std::string> result;
  std::ranges::set_difference(wanted, present, std::inserter(result, result.end()));
  return result;
}

TEST(PerfOptions, TheTableHasEveryLongOptionOfPerf) {
  EXPECT_THAT(missing(record_options, options_in_table("record")), testing::IsEmpty());
  EXPECT_THAT(missing(stat_options, options_in_table("stat")), testing::IsEmpty());
}

TEST(PerfOptions, TheDocumentationHasTheTableOfTheTool) {
  EXPECT_THAT(read_file(PMUSIM_SOURCE_DIR "/docs/commands.md"), HasSubstr(table()));
}

std::vector<std::string> with_example(const Row& row, const std::string& folder) {
  std::vector<std::string> command{"sh", "-c",     "cd " + folder + " && exec \"$@\"",
                                   "sh", pmusim(), row.command};
  command.insert(command.end(), row.example.begin(), row.example.end());
  if (row.option == "append") command.insert(command.end(), {"-o", "named.txt"});
  if (row.option == "interval-count" || row.option == "summary") command.insert(command.end(), {"-I", "1"});
  command.push_back(recorded("branches", {"27"}));
  return command;
}

TEST(PerfOptions, WhatWorksIsAccepted) {
  const ScratchDirectory scratch;
  for (const Row& row : rows()) {
    if (row.fate == "refused") continue;
    const Output output = run(with_example(row, scratch.path().string()));
    EXPECT_EQ(output.status, 0) << row.command << " --" << row.option << "\n" << output.err;
  }
}

TEST(PerfOptions, WhatIsRefusedSaysWhyAndWhatToUse) {
  const ScratchDirectory scratch;
  for (const Row& row : rows()) {
    if (row.fate != "refused") continue;
    const Output output = run(with_example(row, scratch.path().string()));
    EXPECT_EQ(output.status, 2) << row.command << " --" << row.option;
    EXPECT_THAT(output.err, HasSubstr("--" + row.option + ": " + row.sentence));
    EXPECT_THAT(row.sentence, testing::ContainsRegex("; |use |choose ")) << row.option;
  }
  EXPECT_FALSE(std::filesystem::exists(scratch.file("perf.data")));
}

}  // namespace
}  // namespace pmusim::test
