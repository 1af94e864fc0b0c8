// SPDX-License-Identifier: MIT
// What a person who knows perf types without thinking.
#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <set>

#include "command.h"
#include "perf_data_file.h"
#include "pmusim/perfdata/reader.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class PerfHabits : public testing::Test {
 protected:
  static std::string trace_path() { return recorded("branches", {"400"}); }
  std::string file() const { return scratch_.file("perf.data"); }
  Output record(std::vector<std::string> options) const {
    std::vector<std::string> command{pmusim(), "record", "-o", file()};
    command.insert(command.end(), options.begin(), options.end());
    return run(command);
  }
  static Output stat(std::vector<std::string> options) {
    std::vector<std::string> command{pmusim(), "stat"};
    command.insert(command.end(), options.begin(), options.end());
    return run(command);
  }
  static u64 count_of(const std::string& event, const nlohmann::json& document) {
    for (const auto& total : document["events"])
      if (total["event"] == event) return total["value"];
    throw std::runtime_error("no event " + event);
  }

  ScratchDirectory scratch_;
};

TEST_F(PerfHabits, RepeatedEventOptionsAddUp) {
  const Output output = stat({"-e", "cycles", "-e", "instructions,branches", trace_path()});
  EXPECT_EQ(output.status, 0) << output.err;
  for (const char* name : {"cycles", "instructions", "branches"}) EXPECT_THAT(output.err, HasSubstr(name));
  EXPECT_EQ(record({"-q", "-e", "cycles", "-e", "branches", trace_path()}).status, 0);
  EXPECT_EQ(perfdata::Reader::open(file())->events().size(), 2u);
}

TEST_F(PerfHabits, StatPrintsOnStandardErrorAsPerfDoes) {
  const Output output = stat({trace_path()});
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("insn per cycle"));
}

TEST_F(PerfHabits, AProgramIsRecordedAndReplayedInOneGo) {
  const Output sampled = record({"-b", "--", workload("branches"), "27"});
  EXPECT_EQ(sampled.status, 0) << sampled.err;
  EXPECT_THAT(run_perf({"report", "--stdio"}, file()).out, HasSubstr("branches"));
  const Output counted = stat({"-e", "instructions", "--", "sh", "-c", "exit 7"});
  EXPECT_EQ(counted.status, 7) << "the program's, as with perf";
  EXPECT_THAT(counted.err, HasSubstr("stats for 'sh -c exit 7'"));
}

TEST_F(PerfHabits, WithoutAPeriodAProfileHasSomeThousandSamples) {
  const Output output = record({trace_path()});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, ContainsRegex("cycles:P: a sample every [0-9]+ "));
  std::smatch found;
  ASSERT_TRUE(std::regex_search(output.err, found, std::regex("\\(([0-9]+) samples\\)"))) << output.err;
  // A short program waits for memory for longer than a period at times: fewer than the 4000 asked for.
  EXPECT_GT(std::stoul(found[1]), 1000u);
  EXPECT_LT(std::stoul(found[1]), 9000u);
}

TEST_F(PerfHabits, NoSamplesIsAWarningWithAHint) {
  const Output output = record({"-c", "1G", trace_path()});
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.err,
              HasSubstr("WARNING: there are no samples: -c 1000000000 is more than ever occurred"));
  EXPECT_THAT(record({"-p", "1", trace_path()}).err, HasSubstr("--per-thread"));
}

TEST_F(PerfHabits, NoSamplesIsExplainedByThePeriodsOfTheEvents) {
  EXPECT_THAT(record({"-e", "cycles/period=1000000000/,branches:u", "-c", "2000000000", trace_path()}).err,
              HasSubstr("no samples: the period in cycles is more than ever occurred; a shorter one samples; "
                        "-c 2000000000 is more than ever occurred"));
  EXPECT_THAT(record({"-e", "cycles/freq=1/", trace_path()}).err,
              HasSubstr("no samples: the frequency in cycles is too low for so short a run"));
  EXPECT_THAT(record({"--model", "skymont", "-e",
                      "{branch-misses/period=100000000,acr_mask=2/u,branches/period=200000000,acr_mask=3/u}",
                      trace_path()})
                  .err,
              HasSubstr("no samples: auto counter reload began the counts of "));
}

TEST_F(PerfHabits, RefusesCallChainsOfTheLbrWithBranches) {
  for (const std::vector<std::string>& branches : {std::vector<std::string>{"-b"}, {"-j", "any_call,u"}}) {
    std::vector<std::string> options{"--call-graph", "lbr", trace_path()};
    options.insert(options.begin(), branches.begin(), branches.end());
    const Output output = record(options);
    EXPECT_EQ(output.status, 2);
    EXPECT_THAT(output.err,
                HasSubstr("--call-graph lbr goes with neither -b nor -j: call chains come from the LBR"));
  }
}

// perf record --branch-filter u,any -e cycles:p ./branches 27
TEST_F(PerfHabits, AProgramNeedsNoDashesBeforeIt) {
  const std::string program = workload("branches");
  const Output sampled = record({"--branch-filter", "u,any", "-e", "cycles:p", "-c", "1000", program, "27"});
  EXPECT_EQ(sampled.status, 0) << sampled.err;
  EXPECT_THAT(run_perf({"report", "--stdio"}, file()).out, HasSubstr("branches"));
  const Output counted = stat({"-x", ",", "-e", "instructions:u", "sh", "-c", "exit 7", "--", "-e"});
  EXPECT_EQ(counted.status, 7) << counted.err;
  EXPECT_THAT(counted.err, ContainsRegex("^[0-9]+,,instructions:u,"));
  EXPECT_THAT(record({"-I", program, "27"}).err, HasSubstr("wrote "));
  EXPECT_EQ(record({"-c", "1000", trace_path(), "-b"}).status, 0) << "options behind a trace";
}

TEST_F(PerfHabits, AFrequencyTooLowForEmulatedTimeSaysSo) {
  EXPECT_THAT(record({"-F", "99", trace_path()}).err, ContainsRegex("99 Hz give about 0|leave -F out"));
}

// Nine events on Skylake's four general-purpose counters.
TEST_F(PerfHabits, EventsThatDoNotFitAreReplayedAgainAndExact) {
  std::string list;
  const std::vector<std::string> names{"r00c4", "r01c4", "r02c4", "r08c4", "r10c4",
                                       "r20c4", "r40c4", "r00c5", "r01c0"};
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  const auto count = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--model", "skylake", trace_path()});
    return stat(options);
  };
  const auto together = parse_json(count({"--json", "-e", list}).out);
  EXPECT_GT(together["replays"], 1);
  for (const std::string& name : names) {
    const auto alone = parse_json(count({"--json", "-e", name}).out);
    EXPECT_EQ(count_of(name, together), count_of(name, alone)) << name;
    EXPECT_EQ(alone["replays"], 1);
  }
  EXPECT_THAT(count({"-e", list}).err, HasSubstr("replays: these events need more counters"));
  const Output in_turns = count({"--multiplex", "-e", list});
  EXPECT_THAT(in_turns.err, Not(HasSubstr("replays:")));
}

TEST_F(PerfHabits, IntervalsAddUpToTheWhole) {
  const std::string trace = recorded("branches", {"10000"});
  const Output parts = stat({"-x,", "-I", "1", "-e", "instructions", trace});
  ASSERT_EQ(parts.status, 0) << parts.err;
  u64 sum = 0;
  double before = 0;
  for (const std::string& line : lines(parts.err)) {
    EXPECT_GT(std::stod(line), before);
    before = std::stod(line);
    sum += std::stoull(line.substr(line.find(',') + 1));
  }
  const auto whole = parse_json(stat({"--json", "-e", "instructions", trace}).out);
  EXPECT_EQ(sum, count_of("instructions", whole));
}

TEST_F(PerfHabits, FormatsForPrograms) {
  EXPECT_THAT(stat({"-x;", "-e", "instructions", trace_path()}).err,
              ContainsRegex("^[0-9]+;;instructions;[0-9]+;100.00;;\n$"));
  const Output json_lines = stat({"-j", "-e", "cycles,instructions", trace_path()});
  for (const std::string& line : lines(json_lines.err)) {
    const auto object = parse_json(line);
    EXPECT_TRUE(object.contains("counter-value") && object.contains("event-runtime")) << line;
  }
  const std::string path = scratch_.file("counts");
  EXPECT_EQ(stat({"-o", path, trace_path()}).err, "");
  const std::string once = read_file(path);
  EXPECT_THAT(once, HasSubstr("instructions"));
  stat({"--append", "-o", path, trace_path()});
  EXPECT_EQ(read_file(path), once + once);
}

TEST_F(PerfHabits, RepeatedReplaysDoNotDeviate) {
  EXPECT_THAT(stat({"-r", "3", "-e", "instructions", trace_path()}).err,
              ContainsRegex("\\(3 runs\\)(.|\n)*\\( \\+-  0.00% \\)"));
}

TEST_F(PerfHabits, DetailsThatTheModelLacksAreNotSupported) {
  const Output output = stat({"-ddd", trace_path()});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, ContainsRegex("<not supported> +L1-dcache-prefetches"));
  EXPECT_THAT(output.err, ContainsRegex("[0-9] +L1-dcache-loads"));
}

// perf_event_open() of them fails with ENOENT.
TEST_F(PerfHabits, GenericEventsThatTheModelLacksAreNotSupported) {
  const Output output = stat({"-e", "node-loads,stalled-cycles-backend,cycles", trace_path()});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, ContainsRegex("<not supported> +node-loads"));
  EXPECT_THAT(output.err, ContainsRegex("<not supported> +stalled-cycles-backend"));
  EXPECT_THAT(output.err, ContainsRegex("[0-9] +cycles"));
  EXPECT_EQ(stat({"-e", "cycles:k", trace_path()}).status, 2) << "that would count 0";
  EXPECT_EQ(stat({"-e", "mem_load_retired.l9_miss", trace_path()}).status, 2);
}

TEST_F(PerfHabits, TopdownSharesAddUpToAHundred) {
  const Output output = stat({"--topdown", "-x,", trace_path()});
  ASSERT_EQ(output.status, 0) << output.err;
  double sum = 0;
  for (const std::string& line : lines(output.err))
    if (const std::size_t unit = line.find(",%  tma_"); unit != std::string::npos)
      sum += std::stod(line.substr(line.rfind(',', unit - 1) + 1));
  EXPECT_NEAR(sum, 100, 0.1);
  EXPECT_EQ(stat({"--topdown", "--model", "nehalem", trace_path()}).status, 2);
  EXPECT_THAT(stat({"-M", "ipcc", trace_path()}).err, HasSubstr("-M ipcc: unknown metric 'ipcc'"));
}

// Each share of level 1 is what its two parts of level 2 add up to.
TEST_F(PerfHabits, TopdownSharesAddUpOnEveryModelThatHasThem) {
  const auto shares = [&](const std::string& model, const std::string& level) {
    std::map<std::string, double> found;
    const Output output = stat({"--topdown", "--td-level", level, "--model", model, "-x,", trace_path()});
    EXPECT_EQ(output.status, 0) << output.err;
    for (const std::string& line : lines(output.err))
      if (const std::size_t unit = line.find(",%  tma_"); unit != std::string::npos)
        found[line.substr(unit + 8)] = std::stod(line.substr(line.rfind(',', unit - 1) + 1));
    return found;
  };
  for (const std::string model :
       {"icelake", "goldencove", "redwoodcove", "lioncove", "cougarcove", "coyotecove"}) {
    std::map<std::string, double> first = shares(model, "1");
    EXPECT_NEAR(
        first["retiring"] + first["bad_speculation"] + first["frontend_bound"] + first["backend_bound"], 100,
        0.1)
        << model;
    if (model == "icelake") continue;
    std::map<std::string, double> second = shares(model, "2");
    EXPECT_NEAR(second["heavy_operations"] + second["light_operations"], first["retiring"], 0.1) << model;
    EXPECT_NEAR(second["branch_mispredicts"] + second["machine_clears"], first["bad_speculation"], 0.1)
        << model;
    EXPECT_NEAR(second["fetch_latency"] + second["fetch_bandwidth"], first["frontend_bound"], 0.1) << model;
    EXPECT_NEAR(second["memory_bound"] + second["core_bound"], first["backend_bound"], 0.1) << model;
  }
  EXPECT_THAT(stat({"--topdown", "--td-level", "2", "--model", "silvermont", trace_path()}).err,
              HasSubstr("--td-level 2: Silvermont counts level 1 only"));
  EXPECT_THAT(stat({"--topdown", "--td-level", "7", "--model", "goldencove", trace_path()}).err,
              HasSubstr("--td-level 7: there are levels 1 to 6"));
}

// Linux 6.12 and perf 6.1: stat-shadow's level 1 of slots, which scale 4, 3 or 2 makes of cycles.
TEST_F(PerfHabits, TopdownOfOlderCoresComesFromSlots) {
  for (const auto& [model, scale] : std::map<std::string, unsigned>{{"sandybridge", 4},
                                                                    {"ivybridge", 4},
                                                                    {"haswell", 4},
                                                                    {"broadwell", 4},
                                                                    {"skylake", 4},
                                                                    {"cascadelake", 4},
                                                                    {"goldmont", 3},
                                                                    {"goldmont-plus", 3},
                                                                    {"silvermont", 2}}) {
    const Output output = stat({"--topdown", "-e", "cycles", "--model", model, "--json", trace_path()});
    ASSERT_EQ(output.status, 0) << model << output.err;
    const auto document = parse_json(output.out);
    const auto count = [&](const char* name) { return static_cast<double>(count_of(name, document)); };
    const double total = count("topdown-total-slots"), issued = count("topdown-slots-issued"),
                 retired = count("topdown-slots-retired"), fetch = count("topdown-fetch-bubbles"),
                 recovery = model == "silvermont" ? 0 : count("topdown-recovery-bubbles");
    EXPECT_EQ(total, scale * count("cycles")) << model;
    const std::map<std::string, double> expected{
        {"retiring", retired / total},
        {"bad_speculation", (issued - retired + recovery) / total},
        {"frontend_bound", fetch / total},
        {"backend_bound", (total - fetch - issued - recovery) / total}};
    const Output text = stat({"--topdown", "--model", model, "-x,", trace_path()});
    std::map<std::string, double> shown;
    for (const std::string& line : lines(text.err))
      if (const std::size_t unit = line.find(",%  tma_"); unit != std::string::npos)
        shown[line.substr(unit + 8)] = std::stod(line.substr(line.rfind(',', unit - 1) + 1));
    ASSERT_EQ(shown.size(), 4u) << model << text.err;
    for (const auto& [name, share] : expected) EXPECT_NEAR(shown[name], 100 * share, 0.01) << model << name;
  }
}

TEST_F(PerfHabits, TopdownNamesCountAsTheirEventsDo) {
  const Output output = stat({"--model", "skylake", "--json", "-e",
                              "topdown-slots-issued,cpu/event=0x0e,umask=1/,topdown-recovery-bubbles,"
                              "cpu/event=0x0d,umask=3,cmask=1/,cpu/topdown-total-slots/,cycles",
                              trace_path()});
  ASSERT_EQ(output.status, 0) << output.err;
  const auto document = parse_json(output.out);
  EXPECT_EQ(count_of("topdown-slots-issued", document), count_of("cpu/event=0x0e,umask=1/", document));
  EXPECT_EQ(count_of("topdown-recovery-bubbles", document),
            4 * count_of("cpu/event=0x0d,umask=3,cmask=1/", document));
  EXPECT_EQ(count_of("cpu/topdown-total-slots/", document), 4 * count_of("cycles", document));
}

TEST_F(PerfHabits, TheSecondLevelOfTopdownStandsBesideTheFirst) {
  const Output output = stat({"--topdown", "--td-level", "2", "--model", "goldencove", trace_path()});
  EXPECT_EQ(output.status, 0) << output.err;
  for (const char* name : {"tma_retiring", "tma_bad_speculation", "tma_frontend_bound", "tma_backend_bound",
                           "tma_light_operations", "tma_memory_bound"})
    EXPECT_THAT(output.err, HasSubstr(name));
}

TEST_F(PerfHabits, DeeperLevelsOfTopdownComeFromFormulas) {
  const Output output = stat({"--topdown", "--td-level", "5", "--model", "skylake", trace_path()});
  EXPECT_EQ(output.status, 0) << output.err;
  for (const char* name : {"tma_memory_bound", "tma_l1_bound", "tma_dtlb_load", "tma_load_stlb_miss"})
    EXPECT_THAT(output.err, HasSubstr(name));
  const Output list = stat({"-M", "list", "--model", "skylake"});
  EXPECT_THAT(list.out, HasSubstr("tma_l1_bound"));
  EXPECT_THAT(stat({"-M", "list", "--model", "bonnell"}).out, Not(HasSubstr("tma_l1_bound")));
}

TEST_F(PerfHabits, RefusalsShowNoListThatNobodyTyped) {
  const Output topdown = stat({"--topdown", "--model", "nehalem", trace_path()});
  EXPECT_EQ(topdown.status, 2);
  EXPECT_THAT(topdown.err, HasSubstr("--topdown: Nehalem cannot count the events of 'TopdownL1'"));
  EXPECT_THAT(topdown.err, Not(HasSubstr("event list")));
  const Output metric = stat({"-M", "tma_memory_bound", "--model", "nehalem", trace_path()});
  EXPECT_THAT(metric.err, HasSubstr("-M tma_memory_bound: Nehalem cannot count the events of"));
  const Output grouped = stat({"--group", "-e", "cycles", "-e", "branches,nonsense", trace_path()});
  EXPECT_EQ(grouped.status, 2);
  EXPECT_THAT(grouped.err, HasSubstr("event list 'branches,nonsense', character 10: unknown event"));
}

// x86_pmu_hw_config: there is no sense in PEBS for what does not sample.
TEST_F(PerfHabits, StatRefusesWhatAKernelDoesNotCount) {
  const Output precise = stat({"-e", "cycles:pp", trace_path()});
  EXPECT_EQ(precise.status, 2);
  EXPECT_THAT(precise.err, HasSubstr("event 'cycles:pp': precise_ip needs a sampling event"));
  EXPECT_EQ(stat({"-e", "cycles:P", trace_path()}).status, 0) << "P takes what there is";
  const Output reserved =
      stat({"--model", "skylake", "-e", "cpu/event=0xb7,umask=1,offcore_rsp=0x4000000010001/", trace_path()});
  EXPECT_EQ(reserved.status, 2);
  EXPECT_THAT(reserved.err, HasSubstr("config1: 0x4000000010001 has bits outside"));
}

TEST_F(PerfHabits, RecordSaysThatAllItsRecordsCollided) {
  const Output output =
      record({"--model", "haswell", "-c", "2003", "-e", "cycles:p", "-e", "cycles:p", trace_path()});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(
      output.err,
      HasSubstr(
          "there are no samples: every PEBS record names several events, and drivers drop such records"));
  EXPECT_THAT(output.err, HasSubstr("samples lost to PEBS collisions"));
}

TEST_F(PerfHabits, CountsOfThreadsAddUpToThoseOfTheProgram) {
  const std::string program = "(true; true) & true; wait";
  const std::string trace = scratch_.file("trace");
  ASSERT_EQ(run({pmusim(), "trace", "record", "-o", trace, "sh", "-c", program}).status, 0);
  const auto whole = parse_json(stat({"--json", "-e", "instructions", trace}).out);
  u64 sum = 0;
  std::set<std::string> threads;
  for (const std::string& line : lines(stat({"-x,", "--per-thread", "-e", "instructions", trace}).err)) {
    threads.insert(line.substr(0, line.find(',')));
    sum += std::stoull(line.substr(line.find(',') + 1));
  }
  EXPECT_GE(threads.size(), 2u);
  EXPECT_EQ(sum, count_of("instructions", whole));
  // One of them alone, and only its samples.
  const std::string tid = threads.begin()->substr(threads.begin()->find('-') + 1);
  EXPECT_EQ(record({"-q", "-t", tid, trace}).status, 0);
  for (const std::string& line : lines(perf_output({"script", "-F", "tid"}, file())))
    EXPECT_THAT(line, HasSubstr(tid));
}

TEST_F(PerfHabits, DelaysLeaveTheBeginningOut) {
  const std::string trace = recorded("branches", {"10000"});
  const auto all = parse_json(stat({"--json", "-e", "instructions", trace}).out);
  const auto late = parse_json(stat({"--json", "-D", "1", "-e", "instructions", trace}).out);
  EXPECT_LT(count_of("instructions", late), count_of("instructions", all));
  EXPECT_EQ(record({"-q", "-D", "1", trace}).status, 0);
  for (const std::string& line : lines(perf_output({"script", "-F", "time"}, file())))
    EXPECT_GE(std::stod(line), 0.001);
}

TEST_F(PerfHabits, AnOlderFileIsKept) {
  EXPECT_EQ(record({"-c", "997", trace_path()}).status, 0);
  const std::string first = read_file(file());
  EXPECT_EQ(record({"-c", "4001", trace_path()}).status, 0);
  EXPECT_EQ(read_file(file() + ".old"), first);
  EXPECT_NE(read_file(file()), first);
}

TEST_F(PerfHabits, SizesOfTheBuffer) {
  for (const char* size : {"1", "64", "64M", "100K", "4096B"})
    EXPECT_EQ(record({"-q", "-m", size, trace_path()}).status, 0) << size;
  EXPECT_THAT(record({"-m", "0", trace_path()}).err, HasSubstr("-m 0: a buffer without data pages"));
  for (const char* size :
       {"3", "-1", "99999999999999999999", "1T", "1024G", "8,8", "", "9223372036854775808"}) {
    const Output output = record({"-m", size, trace_path()});
    EXPECT_EQ(output.status, 2) << size;
    EXPECT_THAT(output.err, HasSubstr(std::string("-m ") + size + ": ")) << size;
  }
}

TEST_F(PerfHabits, SentencesNameTheCulprit) {
  const std::string T = trace_path();
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"-c", "0", T}, "-c 0: expected"},
      {{"-c", "often", T}, "-c often: expected"},
      {{"-I", "2", T}, "unknown register '2'"},
      {{"--intr-regs=rax", T}, "--intr-regs rax: unknown register 'rax'"},
      {{"--callgraph", "lbr", T}, "unknown option '--callgraph'; did you mean --call-graph"},
      {{"-c", T}, "--count has taken '" + T + "'"},
      {{"--branch-filter", T}, "--branch-filter has taken '" + T + "'"},
      {{T, "extra"}, "'extra' is one argument too many"},
      {{"-C", "1", T}, "-C 1: there is one CPU, number 0"},
      {{"-D", "-1", T}, "-D -1"},
      {{"-p", "me", T}, "-p me: 'me' is no number"},
      {{"--compression-level=23", T}, "23"},
  };
  for (const auto& [arguments, sentence] : cases) {
    const Output output = record(arguments);
    EXPECT_EQ(output.status, 2) << sentence;
    EXPECT_THAT(output.err, HasSubstr(sentence));
  }
  for (const char* accepted : {"-z=22", "-z1", "-c10k", "-c1M"})
    EXPECT_EQ(record({"-q", accepted, T}).status, 0) << accepted;
}

TEST_F(PerfHabits, AQuestionMarkListsRegisters) {
  for (const char* question : {"--intr-regs=?", "-I?", "--user-regs=?"}) {
    const Output output = run({pmusim(), "record", question});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.out, ContainsRegex("available registers: ax .* r15"));
  }
}

TEST_F(PerfHabits, HelpIsACommandToo) {
  EXPECT_THAT(run({pmusim(), "help", "record"}).out, HasSubstr("--branch-any"));
  EXPECT_THAT(run({pmusim(), "help", "trace", "record"}).out, HasSubstr("--max-instructions"));
  EXPECT_EQ(run({pmusim(), "help", "nothing"}).status, 2);
  EXPECT_THAT(run({pmusim(), "help"}).out, HasSubstr("stat"));
}

}  // namespace
}  // namespace pmusim::test
