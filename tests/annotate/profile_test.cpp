// SPDX-License-Identifier: MIT
#include "annotate/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "pmusim/annotate/report.h"
#include "tests/annotate/branch.h"

namespace pmusim::annotate::profile_test {

namespace {

using testing::HasSubstr;

/// A process whose JIT compiler put two functions at 0x1000 and 0x2000.
class ProfileTest : public testing::Test {
 protected:
  ProfileTest()
      : directory(std::filesystem::temp_directory_path() / ("pmusim-jit-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(directory);
    const std::string map = (directory / "perf-1.map").string();
    std::ofstream(map) << "1000 100 loop\n2000 100 leaf\n";
    options.jit_directory = directory;
    path = map;
  }
  ~ProfileTest() override { std::filesystem::remove_all(directory); }

  Profile profile(BranchUse use = BranchUse::every_branch) const {
    Profile result(options);
    auto& spaces = result.address_spaces();
    spaces.map(1, 0, {0x1000, 0x3000, 0x1000, spaces.add_file({path, {}})});
    result.add_event({.name = "cycles", .branches = use});
    return result;
  }
  static const Symbol& symbol(const Report& report, const std::string& name) {
    return *std::ranges::find(report.symbols, name, &Symbol::name);
  }

  std::filesystem::path directory;
  std::string path;
  Options options;
};

TEST_F(ProfileTest, SymbolsAreRankedByPeriod) {
  Profile p = profile();
  p.add({.pid = 1, .ip = 0x1010, .period = 10});
  p.add({.pid = 1, .ip = 0x1020, .period = 10});
  p.add({.pid = 1, .ip = 0x2010, .period = 100});
  const Report report = p.report();
  EXPECT_EQ(report.symbols[0].name, "leaf");
  EXPECT_EQ(report.symbols[0].weights, (Weights{{1, 100}}));
  EXPECT_EQ(report.symbols[1].weights, (Weights{{2, 20}}));
  EXPECT_EQ(report.modules[0].weights, (Weights{{3, 120}}));
}

TEST_F(ProfileTest, SamplesOutsideOfAnyMappingAreKeptAsUnknown) {
  Profile p = profile();
  p.add({.pid = 7, .ip = 0x1010});
  const Report report = p.report();
  EXPECT_EQ(report.symbols[0].name, "[unknown]");
  EXPECT_EQ(report.modules[0].path, "[unknown]");
}

TEST_F(ProfileTest, CodeOfOneFileCountsTogetherWhereverItIsMapped) {
  Profile p = profile();
  auto& spaces = p.address_spaces();
  spaces.map(2, 0, {0x501000, 0x503000, 0x1000, spaces.add_file({path, {}})});
  p.add({.pid = 1, .ip = 0x1010});
  p.add({.pid = 2, .ip = 0x501010});
  EXPECT_EQ(p.report().symbols[0].weights, (Weights{{2, 2}}));
}

TEST_F(ProfileTest, OnlySamplesInTheFunctionsAskedForCount) {
  options.symbols = {"leaf"};
  Profile p = profile();
  const std::vector<perf::BranchEntry> stack{branch(0x1020, 0x1010), branch(0x1020, 0x1010)};
  p.add({.pid = 1, .ip = 0x1010, .branches = stack});
  p.add({.pid = 1, .ip = 0x2010, .branches = stack});
  const Report report = p.report();
  EXPECT_EQ(report.totals.samples, 1u);
  EXPECT_EQ(symbol(report, "loop").max_coverage, 1u);
  ASSERT_EQ(report.functions.size(), 1u);
  EXPECT_EQ(report.symbols[report.functions[0].symbol].name, "leaf");
}

TEST_F(ProfileTest, ALoopIsTheHottestPath) {
  Profile p = profile();
  p.add({.pid = 1, .ip = 0x1010, .branches = std::vector(32, branch(0x1020, 0x1010, 4))});
  const Report report = p.report();
  ASSERT_EQ(report.paths.size(), 1u);
  EXPECT_TRUE(report.paths[0].is_loop);
  EXPECT_EQ(report.paths[0].steps.size(), 1u);
  EXPECT_EQ(report.paths[0].steps[0].executions, 31u);
  EXPECT_EQ(report.paths[0].executions, 32u);
  EXPECT_EQ(report.branches[0].taken, 32u);
  EXPECT_EQ(report.branches[0].cycles, 128u);
}

/// `times` samples that saw one branch and the straight line to the next.
void add_pairs(Profile& p, const perf::BranchEntry& older, const perf::BranchEntry& newer, int times) {
  const std::vector<perf::BranchEntry> stack{newer, older};
  for (int i = 0; i < times; ++i) p.add({.pid = 1, .ip = 0x1010, .branches = stack});
}

// 1000-1010 goes to 1040-1050, which goes back; 1080-1090 goes to 1040 as well.
TEST_F(ProfileTest, ALoopIsOnePathFromItsHeadWhereverItIsEntered) {
  Profile p = profile();
  const auto there = branch(0x1010, 0x1040), back = branch(0x1050, 0x1000), enter = branch(0x1090, 0x1040);
  add_pairs(p, back, there, 20);
  add_pairs(p, there, back, 12);
  add_pairs(p, enter, back, 8);
  const Report report = p.report();
  ASSERT_EQ(report.paths.size(), 1u) << "1040, 1000 is the same loop as 1000, 1040";
  EXPECT_TRUE(report.paths[0].is_loop);
  ASSERT_EQ(report.paths[0].steps.size(), 2u);
  EXPECT_EQ(report.paths[0].steps[0].first.address, 0x1000u);
  EXPECT_EQ(report.paths[0].steps[1].first.address, 0x1040u);
  EXPECT_EQ(report.paths[0].executions, 32u);
}

TEST_F(ProfileTest, WhatLeadsIntoALoopIsAPathThatJoinsIt) {
  Profile p = profile();
  const auto call = branch(0x2010, 0x1080), enter = branch(0x1090, 0x1040), back = branch(0x1050, 0x1040);
  add_pairs(p, call, enter, 10);  // the most often taken, so that the search begins outside of the loop
  add_pairs(p, back, back, 4);
  const Report report = p.report();
  ASSERT_EQ(report.paths.size(), 2u);
  EXPECT_TRUE(report.paths[0].is_loop);
  EXPECT_EQ(report.paths[0].steps[0].first.address, 0x1040u);
  EXPECT_EQ(report.paths[0].joins, nothing);
  EXPECT_FALSE(report.paths[1].is_loop);
  ASSERT_EQ(report.paths[1].steps.size(), 1u);
  EXPECT_EQ(report.paths[1].steps[0].first.address, 0x1080u);
  EXPECT_EQ(report.paths[1].joins, 0u);
}

// A loop at 1000 that calls `leaf` at 1010 and at 1030: what returns from there goes both ways as often.
TEST_F(ProfileTest, AFunctionCalledTwiceReturnsToEachOfItsCallers) {
  Profile p = profile();
  const std::vector<perf::BranchEntry> newest_first{branch(0x1050, 0x1000), branch(0x2020, 0x1035),
                                                    branch(0x1030, 0x2000), branch(0x2020, 0x1015),
                                                    branch(0x1010, 0x2000), branch(0x1050, 0x1000)};
  for (int i = 0; i < 8; ++i) p.add({.pid = 1, .ip = 0x1010, .branches = newest_first});
  const Report report = p.report();
  ASSERT_EQ(report.paths.size(), 1u);
  EXPECT_TRUE(report.paths[0].is_loop);
  std::vector<u64> steps;
  for (const PathStep& step : report.paths[0].steps) steps.push_back(step.first.address);
  EXPECT_EQ(steps, (std::vector<u64>{0x1000, 0x2000, 0x1015, 0x2000, 0x1035}));
}

TEST_F(ProfileTest, RecursionCountsOnceInWhatAFunctionCalled) {
  Profile p = profile(BranchUse::none);
  p.add(
      {.pid = 1, .ip = 0x2010, .callchain = std::vector<u64>{~u64{0} - 511, 0x2010, 0x1011, 0x1021, 0x1011}});
  const Report report = p.report();
  EXPECT_EQ(report.stack_source, StackSource::callchain);
  EXPECT_EQ(symbol(report, "loop").with_callees[0].samples, 1u);
  ASSERT_EQ(report.stacks.size(), 5u);
  EXPECT_EQ(report.symbols[report.stacks[4].symbol].name, "leaf");
  EXPECT_EQ(report.stacks[0].total[0].samples, 1u);
}

TEST_F(ProfileTest, NeighboursInDifferentModulesBoundNoLine) {
  Profile p = profile();
  auto& spaces = p.address_spaces();
  spaces.map(1, 0, {0x8000, 0x9000, 0, spaces.add_file({"[vdso]", {}})});
  p.add({.pid = 1, .ip = 0x1010, .branches = std::vector{branch(0x8010, 0x1010), branch(0x1020, 0x1010)}});
  const Report report = p.report();
  EXPECT_EQ(report.totals.broken_blocks, 1u);
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("bound no straight line")));
}

TEST_F(ProfileTest, TheReportDoesNotGrowWithTheSamples) {
  const auto json_after = [&](int samples) {
    Profile p = profile();
    for (int i = 0; i < samples; ++i)
      p.add({.pid = 1,
             .ip = 0x1010 + static_cast<u64>(i % 8),
             .callchain = std::vector<u64>{0x2010, 0x1011},
             .branches = std::vector(8, branch(0x1020, 0x1010))});
    return to_json(p.report()).size();
  };
  EXPECT_LT(json_after(4000), json_after(40) + 200);
}

/// A function written by hand, to pin what is printed.
Report printed_report() {
  Report report;
  report.events = {{"cycles", {4, 4}}};
  report.modules = {{"/bin/x", "", "", {{4, 4}}}};
  report.symbols = {{"f", "f", 0, 0x1000, 0x1006, {{4, 4}}, {{4, 4}}, 8, 0}};
  report.files = {{"/src/x.c", {"int f(void)", "{ return g(); }"}}};
  AnnotatedFunction f{.symbol = 0};
  Instruction nop{.address = 0x1000, .bytes = 1, .text = "nop", .where = {0, 1}, .weights = {{3, 3}}};
  nop.heat = 1;
  nop.join = {4, 50};
  Instruction jump{
      .address = 0x1001, .bytes = 5, .text = "jmp 0x1000 <f>", .where = {0, 2}, .weights = {{1, 1}}};
  jump.heat = 0;
  jump.leave = {6, 3, 3, 75, 50};
  f.instructions = {nop, jump};
  report.functions = {f};
  return report;
}

TEST(AnnotationText, ShowsPercentSourceCodeAndBranches) {
  const Report report = printed_report();
  EXPECT_EQ(annotation_text(report, report.functions[0], Colours::none),
            "f in /bin/x for cycles (4 samples), percent: local period\n"
            "---------------------------------------------------------\n"
            " Percent | Source code & Disassembly\n"
            "         : 1     int f(void)\n"
            "   75.00 :   1000:  nop\t# +50.00%\n"
            "         : 2     { return g(); }\n"
            "   25.00 :   1001:  jmp 0x1000 <f>\t# -75.00% (p:50.00%)\n");
}

TEST(AnnotationText, ShowsIpcAndCyclesAtTheEndOfABlock) {
  Report report = printed_report();
  report.functions[0].blocks = {{.first = 0x1000,
                                 .last = 0x1001,
                                 .first_instruction = 0,
                                 .instructions = 2,
                                 .cycles = {.executions = 4, .sum = 10, .min = 1, .max = 5},
                                 .ipc = 0.8}};
  EXPECT_THAT(annotation_text(report, report.functions[0], Colours::none),
              HasSubstr("   25.00   0.80              2(1/5) :   1001:"));
}

TEST(AnnotationText, ColoursHotAddressesRedAndLeavesColdOnesAlone) {
  const Report report = printed_report();
  const std::string text = annotation_text(report, report.functions[0], Colours::ansi);
  EXPECT_THAT(text, HasSubstr("\x1b[31m1000:\x1b[m  \x1b[34mnop\x1b[m"));
  EXPECT_THAT(text, HasSubstr(" :   1001:  jmp"));
  EXPECT_THAT(text, HasSubstr("\x1b[31m  75.00\x1b[m"));
}

TEST(AnnotationText, BranchesRarerThanOneInAThousandPrintNothing) {
  Report report = printed_report();
  report.functions[0].instructions[0].join->percent = 0.1;
  report.functions[0].instructions[1].leave->percent = 0.1;
  EXPECT_THAT(annotation_text(report, report.functions[0], Colours::none), testing::Not(HasSubstr("0.10%")));
}

}  // namespace

}  // namespace pmusim::annotate::profile_test
