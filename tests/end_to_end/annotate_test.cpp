// SPDX-License-Identifier: MIT
// pmusim annotate and pmusim report, against counting by hand and against perf annotate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "branch_profile.h"
#include "command.h"
#include "tests/support/json.h"

namespace pmusim::test {

namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A profile of a workload that a test looks at from several sides.
class AnnotateTest : public testing::Test {
 protected:
  std::string record(const std::string& trace, std::vector<std::string> options) const {
    const std::string file = scratch.file("perf.data");
    options.insert(options.begin(), {pmusim(), "record", "-q", "-m", "512", "-o", file});
    options.push_back(trace);
    const Output output = run(options);
    EXPECT_EQ(output.status, 0) << output.err;
    return file;
  }
  std::string record_branches(const std::string& event = "cycles:upp") const {
    return record(recorded("branches", {"400"}), {"-e", event, "-c", "211", "-b"});
  }
  static json annotate(const std::string& file, const std::vector<std::string>& symbols = {}) {
    std::vector<std::string> command{pmusim(), "annotate", "--json", "-i", file};
    command.insert(command.end(), symbols.begin(), symbols.end());
    const Output output = run(command);
    EXPECT_EQ(output.status, 0) << output.err;
    return parse_json(output.out);
  }
  static const json& function(const json& report, const std::string& name) {
    for (const json& f : report["functions"])
      if (report["symbols"][f["symbol"].get<std::size_t>()]["name"] == name) return f;
    throw std::runtime_error("no function " + name);
  }
  ScratchDirectory scratch;
};

/// Counts what branch stacks say of each address, without any idea of ranges.
struct Tally {
  u64 coverage = 0, entry = 0, taken = 0, predicted = 0;
};
std::map<u64, Tally> tally(const std::vector<BranchSample>& samples, const json& instructions) {
  std::map<u64, Tally> counts;
  for (const json& i : instructions) counts[i["address"]];
  for (const BranchSample& sample : samples)
    for (std::size_t i = 0; i + 1 < sample.branches.size(); ++i) {
      const u64 first = sample.branches[i + 1].to, last = sample.branches[i].from;
      if (first == 0 || first > last) continue;
      for (auto at = counts.lower_bound(first); at != counts.end() && at->first <= last; ++at)
        ++at->second.coverage;
      if (counts.contains(first)) ++counts[first].entry;
      if (!counts.contains(last)) continue;
      ++counts[last].taken;
      counts[last].predicted += sample.branches[i].predicted;
    }
  return counts;
}

u64 figure(const json& instruction, const char* mark, const char* name) {
  return instruction.contains(mark) ? instruction[mark][name].get<u64>() : 0;
}

TEST_F(AnnotateTest, EveryInstructionHasTheCountsTalliedByAddress) {
  const std::string file = record_branches();
  const json report = annotate(file);
  const std::vector<BranchSample> samples = branch_samples(file);
  ASSERT_GT(samples.size(), 50u);
  for (const char* const name : {"branches", "lfsr", "main"}) {
    const json& instructions = function(report, name)["instructions"];
    const std::map<u64, Tally> counts = tally(samples, instructions);
    u64 most = 0;
    for (const auto& [address, count] : counts) most = std::max(most, count.coverage);
    ASSERT_GT(most, 0u);
    for (const json& i : instructions) {
      const Tally& expected = counts.at(i["address"]);
      EXPECT_EQ(i["coverage"], expected.coverage) << name << " " << i;
      EXPECT_EQ(figure(i, "join", "entries"), expected.entry) << i;
      EXPECT_EQ(figure(i, "leave", "taken"), expected.taken) << i;
      EXPECT_EQ(figure(i, "leave", "predicted"), expected.predicted) << i;
      EXPECT_DOUBLE_EQ(i["heat"], static_cast<double>(expected.coverage) / static_cast<double>(most));
    }
  }
}

/// Address -> percent and comment, as either tool prints them.
using Printed = std::map<u64, std::pair<std::string, std::string>>;
Printed printed(const std::string& text) {
  static const std::regex line(R"(\s*(\d+\.\d\d)[^:|]*:\s+([0-9a-f]+):\s[^\t]*(?:\t[^#]*)?(?:#( [+-].*))?)");
  Printed all;
  for (const std::string& l : lines(text))
    if (std::smatch m; std::regex_match(l, m, line))
      all[std::stoull(m[2], nullptr, 16)] = {m[1],
                                             std::regex_replace(std::string(m[3]), std::regex("\\s+$"), "")};
  return all;
}

TEST_F(AnnotateTest, PerfPrintsTheSamePercentagesAndBranchComments) {
  if (!installed("perf") || !installed("objdump")) GTEST_SKIP() << "needs perf and objdump";
  const std::string file = record_branches();
  for (const char* const symbol : {"branches", "lfsr"}) {
    const Output ours = run({pmusim(), "annotate", "--stdio", "-i", file, symbol});
    ASSERT_EQ(ours.status, 0) << ours.err;
    const Printed perfs = printed(run_perf({"annotate", "--stdio", symbol}, file).out);
    ASSERT_GT(perfs.size(), 10u);
    EXPECT_EQ(printed(ours.out), perfs) << symbol;
  }
}

/// The published listing of this program: what falls through and what is taken are all; the loop goes round;
/// the data-dependent branches are coins.
TEST_F(AnnotateTest, TheLoopGoesRoundAndItsRandomBranchesAreCoins) {
  const json report =
      annotate(record(recorded("branches", {"400"}), {"-e", "branches:u", "-c", "101", "-b"}));
  const json& instructions = function(report, "branches")["instructions"];
  std::vector<double> conditional;
  for (std::size_t i = 0; i + 1 < instructions.size(); ++i) {
    const json& at = instructions[i];
    if (!at.contains("leave")) continue;
    const bool is_conditional =
        at["text"].get<std::string>().starts_with("j") && !at["text"].get<std::string>().starts_with("jmp");
    const u64 fell_through = at["coverage"].get<u64>() - at["leave"]["taken"].get<u64>();
    if (is_conditional) {
      conditional.push_back(at["leave"]["percent"]);
      const json& next = instructions[i + 1];
      EXPECT_EQ(next["coverage"].get<u64>() - figure(next, "join", "entries"), fell_through) << at;
    } else {
      EXPECT_EQ(fell_through, 0u) << at;
    }
  }
  ASSERT_EQ(conditional.size(), 5u)
      << "two bits of the shift register, the skipped block, the diamond, the loop";
  EXPECT_NEAR(conditional[0], 50, 8);
  EXPECT_EQ(conditional[1], 100) << "the seed is even: its block is always skipped";
  EXPECT_NEAR(conditional[2], 50, 8);
  EXPECT_NEAR(conditional[3], 50, 8);
  EXPECT_GT(conditional[4], 99);
  std::vector<double> ways;  // into places that are come to by two
  for (const json& i : instructions)
    if (i.contains("join") && i["join"]["percent"] > 10 && i["join"]["percent"] < 90)
      ways.push_back(i["join"]["percent"]);
  ASSERT_EQ(ways.size(), 6u) << "three times an else part and where both meet";
  for (std::size_t i = 0; i < ways.size(); i += 2) EXPECT_NEAR(ways[i] + ways[i + 1], 100, 0.01);
}

TEST_F(AnnotateTest, ReportRanksBySymbolModuleLineAndBranch) {
  const std::string file = record_branches();
  const Output output = run({pmusim(), "report", "-i", file, "--sort", "symbol,module,line,branch"});
  ASSERT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("branches             lfsr"));
  EXPECT_THAT(output.out, HasSubstr("branches.c:"));
  EXPECT_THAT(output.out, HasSubstr(" -> lfsr+0x0 (branches.c:"));
  EXPECT_THAT(output.out, testing::Not(HasSubstr("\x1b"))) << "colours belong to terminals";
  const json report = annotate(file);
  u64 in_modules = 0, in_symbols = 0;
  for (const json& m : report["modules"]) in_modules += m["weights"][0]["samples"].get<u64>();
  for (const json& s : report["symbols"]) in_symbols += s["weights"][0]["samples"].get<u64>();
  EXPECT_EQ(in_modules, branch_samples(file).size());
  EXPECT_EQ(in_symbols, branch_samples(file).size());
}

/// perf script's samples and periods of each event, summed up.
std::map<std::string, std::pair<u64, u64>> perf_totals(const std::string& file) {
  std::map<std::string, std::pair<u64, u64>> totals;
  for (const std::string& line : lines(perf_output({"script", "-F", "period,event"}, file))) {
    std::istringstream words(line);
    u64 period = 0;
    std::string event;
    if (!(words >> period >> event)) continue;
    auto& [samples, sum] = totals[event.substr(0, event.rfind(':'))];
    ++samples;
    sum += period;
  }
  return totals;
}

TEST_F(AnnotateTest, MembersOfALeaderSampledGroupHaveTheirCounts) {
  const std::string file = record(recorded("branches", {"400"}),
                                  {"-e", "{cycles:u,instructions:u,branch-misses:u}:S", "-c", "2003"});
  std::map<std::string, std::pair<u64, u64>> totals;
  const json report = annotate(file);
  for (const json& event : report["events"]) totals[event["name"]] = {event["samples"], event["period"]};
  EXPECT_EQ(totals.size(), 3u);
  EXPECT_EQ(totals, perf_totals(file));
}

TEST_F(AnnotateTest, CallStacksOfTheLbrGiveChildren) {
  const json report = parse_json(
      run({pmusim(), "report", "--json", "-i",
           record(recorded("branches", {"400"}), {"-e", "cycles:upp", "-c", "211", "--call-graph", "lbr"})})
          .out);
  EXPECT_EQ(report["stack_source"], "lbr_call_stack");
  EXPECT_EQ(report["totals"]["blocks"], 0) << "the calls that have not returned are no history";
  for (const json& s : report["symbols"])
    if (s["name"] == "main") {
      EXPECT_GT(s["with_callees"][0]["samples"], 100);
    }
}

TEST_F(AnnotateTest, FilteredBranchStacksShowNoCoverageAndSayWhy) {
  const std::string file =
      record(recorded("branches", {"400"}), {"-e", "cycles:upp", "-c", "211", "-j", "any_call,u"});
  const Output output = run({pmusim(), "annotate", "-i", file, "branches"});
  ASSERT_EQ(output.status, 0);
  EXPECT_THAT(output.err, HasSubstr("its branch stacks are filtered"));
  EXPECT_THAT(output.out, testing::Not(HasSubstr("\t#")));
}

TEST_F(AnnotateTest, NamesTemplatesAndInlinedFunctionsOfAPie) {
  const std::string trace = scratch.file("shapes.pmutrace");
  ASSERT_EQ(run({pmusim(), "trace", "record", "-o", trace, "--", TEST_SHAPES, "300"}).status, 0);
  const std::string file = record(trace, {"-e", "cycles:upp", "-c", "97", "-b"});
  const Output report = run({pmusim(), "report", "-i", file});
  EXPECT_THAT(report.out, HasSubstr("geometry::Polygon<int, 3>::area(unsigned long) const"));
  EXPECT_THAT(report.out, HasSubstr("geometry::Polygon<long, 4>::area(unsigned long) const"));
  const Output total = run({pmusim(), "annotate", "-i", file, "(anonymous namespace)::total"});
  ASSERT_EQ(total.status, 0) << total.err;
  EXPECT_THAT(total.out, HasSubstr("(inlined) mixed_twice > mixed"));
  EXPECT_THAT(total.out, HasSubstr("0xff51afd7ed558ccdUL;"));
  EXPECT_THAT(total.out, testing::ContainsRegex("# -100.00% \\(p:"));

  // The virtual call is one branch instruction with two targets.
  const json all = annotate(file);
  std::map<std::string, u64> called;
  std::set<u64> callers;
  for (const json& b : all["branches"]) {
    const std::string from = all["symbols"][b["from"]["symbol"].get<std::size_t>()]["name"];
    const std::string to = all["symbols"][b["to"]["symbol"].get<std::size_t>()]["name"];
    if (!from.starts_with("(anonymous namespace)::total(") || !to.starts_with("geometry::Polygon")) continue;
    called[to] += b["taken"].get<u64>();
    callers.insert(b["from"]["address"].get<u64>());
  }
  EXPECT_EQ(called.size(), 2u);
  for (const auto& [name, taken] : called) EXPECT_GT(taken, 50u) << name;
  EXPECT_EQ(callers.size(), 1u);
}

TEST_F(AnnotateTest, AFileOfPerfItselfIsRead) {
  const std::string file = scratch.file("perf.data");
  const Output recording = run({"perf", "record", "-q", "-e", "cpu-clock", "-F", "5000", "--call-graph", "fp",
                                "-o", file, "--", workload("branches"), "4000000"});
  if (recording.status != 0) GTEST_SKIP() << "perf cannot record here: " << recording.err;
  const json report = annotate(file);
  EXPECT_EQ(report["stack_source"], "callchain");
  EXPECT_GT(report["totals"]["samples"], 10);
  // Which of its functions is hotter is up to the machine's clock.
  const auto names_branches = [](const json& symbol) { return symbol["name"] == "branches"; };
  EXPECT_TRUE(std::ranges::any_of(report["symbols"], names_branches));
  const Output text = run({pmusim(), "annotate", "-i", file, "branches"});
  EXPECT_THAT(text.out, HasSubstr("acc += 1"));
}

TEST_F(AnnotateTest, AProfileWithoutSamplesSaysSo) {
  const std::string file =
      record(recorded("branches", {"400"}), {"-e", "cycles:upp", "-c", "1000000000", "-b"});
  const Output output = run({pmusim(), "annotate", "-i", file});
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.err, HasSubstr("there are no samples"));
  EXPECT_EQ(output.out, "");
}

TEST_F(AnnotateTest, BadInputEndsWithASentence) {
  const std::string file = record_branches();
  const auto fails = [](std::vector<std::string> arguments, const std::string& sentence) {
    arguments.insert(arguments.begin(), pmusim());
    const Output output = run(arguments);
    EXPECT_EQ(output.status, 2);
    EXPECT_THAT(output.err, HasSubstr(sentence));
  };
  fails({"annotate", "-i", scratch.file("missing")}, "missing: cannot read: No such file or directory");
  fails({"annotate", "-i", workload("branches")}, "not a perf.data file");
  fails({"annotate", "-i", file, "branch"}, "no samples in a function 'branch'; did you mean branches");
  fails({"report", "-i", file, "--sort", "size"}, "--sort size: expected symbol, module, line, branch, comm");
}

TEST_F(AnnotateTest, IntelSyntaxPutsTheDestinationFirst) {
  const std::string file = record_branches();
  EXPECT_THAT(run({pmusim(), "annotate", "-i", file, "lfsr"}).out, HasSubstr("mov %rsp, %rbp"));
  EXPECT_THAT(run({pmusim(), "annotate", "-i", file, "lfsr", "-M", "intel"}).out, HasSubstr("mov rbp, rsp"));
}

}  // namespace

}  // namespace pmusim::test
