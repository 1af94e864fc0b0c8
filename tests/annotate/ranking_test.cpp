// SPDX-License-Identifier: MIT
// The tables of pmusim report: rows, columns and call stacks.
#include <gmock/gmock.h>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate::ranking_test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// main calls a and b; b calls itself.
Report profile() {
  Report report;
  report.input = "perf.data";
  report.command_line = "prog 1";
  report.events = {{"cycles", {100, 1000}}};
  report.modules.resize(2);
  report.modules[0].path = "/bin/prog";
  report.modules[0].weights = {{90, 900}};
  report.modules[1].path = "/lib/li,b.so";
  report.modules[1].weights = {{10, 100}};
  const auto add = [&](const std::string& name, u32 module, u64 self, u64 with_callees) {
    Symbol symbol;
    symbol.name = name;
    symbol.module = module;
    symbol.weights = {{self / 10, self}};
    symbol.with_callees = {{with_callees / 10, with_callees}};
    report.symbols.push_back(symbol);
  };
  add("b", 0, 800, 800);
  add("a", 1, 100, 100);
  add("main", 0, 100, 1000);
  add("start", 0, 0, 1000);
  report.stack_source = StackSource::callchain;
  const auto node = [&](u32 parent, u32 symbol, u64 self, u64 total) {
    report.stacks.push_back({parent, symbol, {{self / 10, self}}, {{total / 10, total}}});
  };
  node(nothing, nothing, 0, 1000);
  node(0, 3, 0, 1000);
  node(1, 2, 100, 1000);
  node(2, 0, 300, 800);
  node(3, 0, 500, 500);
  node(2, 1, 100, 100);
  return report;
}

TEST(RankingText, ChildrenRankWhoHasNoSamplesOfItsOwn) {
  RankingOptions options;
  options.children = RankingChildren::ranked;
  options.separator = ",";
  EXPECT_EQ(ranking_text(profile(), options),
            "# cycles: 100 samples, event count 1000\n\n# Overhead,Samples,Children,Module,Symbol\n"
            "10.00%,10,100.00%,prog,main\n0.00%,0,100.00%,prog,start\n80.00%,80,80.00%,prog,b\n"
            "10.00%,10,10.00%,li.b.so,a\n");
  options.children = RankingChildren::hidden;
  options.percent_limit = 50;
  EXPECT_THAT(ranking_text(profile(), options),
              HasSubstr("\n# Overhead,Samples,Module,Symbol\n80.00%,80,prog,b\n"));
}

TEST(RankingText, FieldsStandInTheOrderAskedFor) {
  RankingOptions options;
  options.fields = {RankingField::symbol, RankingField::period, RankingField::overhead};
  options.separator = " | ";
  EXPECT_THAT(ranking_text(profile(), options),
              HasSubstr("\n# Symbol | Period | Overhead\nb | 800 | 80.00%\n"));
}

TEST(RankingText, SamplesAreAddedUpByWhoseTheyAre) {
  Report report = profile();
  const auto task = [&](u32 pid, u32 tid, const std::string& command, u64 period) {
    report.tasks.push_back({pid, tid, command, {{1, period}}});
  };
  task(8, 9, "cc", 500);
  task(8, 8, "make", 400);
  task(3, 3, "make", 100);
  report.cpus = {{2, 1, {{3, 600}}}, {0, 0, {{2, 300}}}, {1, 0, {{1, 100}}}};
  RankingOptions options;
  options.separator = ",";
  const auto table = [&](Ranking ranking) {
    options.rankings = {ranking};
    const std::string text = ranking_text(report, options);
    return text.substr(text.find("\n\n") + 2);
  };
  EXPECT_EQ(table(Ranking::commands), "# Overhead,Samples,Command\n50.00%,2,make\n50.00%,1,cc\n");
  EXPECT_EQ(table(Ranking::processes), "# Overhead,Samples,Pid:Command\n90.00%,2,8:cc\n10.00%,1,3:make\n");
  EXPECT_EQ(table(Ranking::threads),
            "# Overhead,Samples,Tid:Command\n50.00%,1,9:cc\n40.00%,1,8:make\n10.00%,1,3:make\n");
  EXPECT_EQ(table(Ranking::cpus), "# Overhead,Samples,CPU\n60.00%,3,2\n30.00%,2,0\n10.00%,1,1\n");
  EXPECT_EQ(table(Ranking::packages), "# Overhead,Samples,Socket\n60.00%,3,1\n40.00%,3,0\n");
  options.fields = {RankingField::period};
  EXPECT_EQ(table(Ranking::packages), "# Period,Socket\n600,1\n400,0\n");
}

TEST(RankingText, LeavesOutOtherModulesAndSymbols) {
  RankingOptions options;
  options.rankings = {Ranking::symbols, Ranking::modules};
  options.modules = {"li,b.so"};
  const std::string one = ranking_text(profile(), options);
  EXPECT_THAT(one, HasSubstr(" a\n"));
  EXPECT_THAT(one, Not(HasSubstr("prog")));
  options.modules = {};
  options.symbol_filter = "ai";
  EXPECT_THAT(ranking_text(profile(), options), HasSubstr(" main\n"));
  EXPECT_THAT(ranking_text(profile(), options), Not(HasSubstr(" b\n")));
}

TEST(RankingText, ShowsWhoCalledAndWhatWasCalled) {
  RankingOptions options;
  options.fields = {RankingField::overhead, RankingField::symbol};
  options.symbol_filter = "b";
  options.stacks = RankingStacks::callers;
  EXPECT_THAT(ranking_text(profile(), options), HasSubstr("80.00% b\n"
                                                          "            --50.00%--b\n"
                                                          "              --50.00%--main\n"
                                                          "                --50.00%--start\n"
                                                          "            --30.00%--main\n"
                                                          "              --30.00%--start\n"));
  options.stacks = RankingStacks::flat;
  EXPECT_THAT(ranking_text(profile(), options), HasSubstr("            50.00%  start;main;b;b\n"
                                                          "            30.00%  start;main;b\n"));
  options.stacks = RankingStacks::callees;
  options.symbol_filter = "start";
  options.children = RankingChildren::ranked;
  EXPECT_THAT(ranking_text(profile(), options), HasSubstr("start\n"
                                                          "            --100.00%--main\n"
                                                          "              --80.00%--b\n"
                                                          "                --50.00%--b\n"
                                                          "              --10.00%--a\n"));
  options.stack_shares = StackShares::of_line_above;
  EXPECT_THAT(ranking_text(profile(), options), HasSubstr("start\n"
                                                          "            --100.00%--main\n"
                                                          "              --80.00%--b\n"
                                                          "                --62.50%--b\n"
                                                          "              --10.00%--a\n"));
}

TEST(RankingText, HeaderSaysWhatTheFileDoes) {
  RankingOptions options;
  options.header = true;
  EXPECT_THAT(ranking_text(profile(), options), HasSubstr("# input: perf.data\n# cmdline: prog 1\n# cycles"));
}

}  // namespace
}  // namespace pmusim::annotate::ranking_test
