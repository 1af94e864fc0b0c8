// SPDX-License-Identifier: MIT
// A program and a run of it whose figures are counted by hand from the branches that were taken
// (counted_program.h); the disassembly is objdump's.
#include "tests/annotate/counted_program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "annotate/profile.h"
#include "annotate/resolver.h"
#include "tests/support/json.h"

namespace pmusim::annotate {
namespace {

using test::parse_json;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CountedProgramTest : public testing::Test {
 protected:
  /// Processes 1 and 2 have the program at different addresses.
  Profile profile(SampledEvent event = {"cycles", BranchUse::every_branch}) const {
    Profile result(options);
    auto& spaces = result.address_spaces();
    const u32 file = spaces.add_file({counted::path, {}});
    for (const u32 pid : {1u, 2u}) {
      const u64 begin = counted::start + pid * counted::moved;
      spaces.map(pid, 0, {begin, begin + counted::text_bytes, counted::text_offset, file});
    }
    result.add_event(std::move(event));
    return result;
  }
  /// The run, seen by a sample within the second instruction.
  static void run(Profile& p, u32 pid = 1, std::vector<u64> counters = {}) {
    const u64 distance = pid * counted::moved;
    const auto branches = counted::newest_first(counted::three_rounds(), distance);
    p.add({.pid = pid,
           .ip = counted::round + 1 + distance,
           .period = 30,
           .branches = branches,
           .branch_counters = counters});
  }
  Report report_of_run() const {
    Profile p = profile();
    run(p);
    p.add({.pid = 1, .ip = counted::leaf + counted::moved, .period = 10});
    return p.report();
  }
  Options options;
};

std::string line_of(const Instruction& i) {
  std::string line = fmt::format("{:x} {} {}: {}", i.address, i.bytes, i.where.line, i.text);
  line += fmt::format(" | {} {:.2f}", i.coverage, i.heat.value_or(-1));
  if (i.join) line += fmt::format(" +{} {:.2f}%", i.join->entries, i.join->percent);
  if (i.leave)
    line += fmt::format(" -{} {:.2f}% p{} {:.2f}%", i.leave->taken, i.leave->percent, i.leave->predicted,
                        i.leave->predicted_percent.value_or(-1));
  return line;
}
std::vector<std::string> lines_of(const AnnotatedFunction& function) {
  std::vector<std::string> lines;
  for (const Instruction& instruction : function.instructions) lines.push_back(line_of(instruction));
  return lines;
}

TEST_F(CountedProgramTest, InstructionsHaveLineCoverageHeatAndMarks) {
  const Report report = report_of_run();
  const AnnotatedFunction* const start = find_function(report, "_start");
  ASSERT_NE(start, nullptr);
  EXPECT_THAT(lines_of(*start),
              ElementsAre("401000 5 10: mov $0x8, %ecx | 1 0.33 +1 33.33%",  // 1 of the 3 that come to je
                          "401005 3 12: add %rcx, %rax | 3 1.00 +2 66.67%",  //
                          "401008 2 13: test $0x1, %al | 3 1.00",
                          "40100a 2 14: je 0x401011 <_start+0x11> | 3 1.00 -2 66.67% p1 50.00%",
                          "40100c 5 15: call 0x401020 <leaf> | 1 0.33 -1 100.00% p1 100.00%",
                          "401011 2 17: dec %ecx | 3 1.00 +3 100.00%",
                          "401013 2 18: jne 0x401005 <_start+0x5> | 3 1.00 -3 100.00% p3 100.00%",
                          "401015 6 19: mov 0x15(%rip), %edx  # 401030 <tail> | 0 0.00",
                          "40101b 1 19: (bad) | 0 0.00", "40101c 1 21: hlt | 0 0.00"));
  EXPECT_EQ(start->instructions[1].weights, (Weights{{1, 30}})) << "an address within an instruction";
  EXPECT_EQ(start->instructions[0].weights, (Weights{{0, 0}}));
  EXPECT_EQ(start->instructions[3].jump_target, counted::skip);
  EXPECT_EQ(start->instructions[7].jump_target, 0u);
  EXPECT_EQ(start->problem, "");
  ASSERT_EQ(report.files.size(), 1u);
  EXPECT_EQ(report.files[0].path, counted::source);
  EXPECT_THAT(report.files[0].lines[9], HasSubstr("mov $8, %ecx"));
}

TEST_F(CountedProgramTest, JsonHasTheTargetsOfDirectJumpsAlone) {
  const auto json = parse_json(to_json(report_of_run()));
  std::vector<std::string> targets;
  for (const auto& function : json["functions"])
    for (const auto& i : function["instructions"])
      if (i.contains("jump_target"))
        targets.push_back(fmt::format("{:x}-{:x}", i["address"].get<u64>(), i["jump_target"].get<u64>()));
  EXPECT_LE(targets.size(), 4u) << "the program has no more, that of tail included";
  EXPECT_THAT(targets, testing::IsSupersetOf({"40100a-401011", "40100c-401020", "401013-401005"}));
}

std::vector<std::string> lines_of(const std::vector<Block>& blocks) {
  std::vector<std::string> lines;
  for (const Block& b : blocks)
    lines.push_back(
        fmt::format("{:x}-{:x} [{}+{}] {} entered {} left {} predicted {}: {} {} {} {} ipc {:.3f}", b.first,
                    b.last, b.first_instruction, b.instructions, b.coverage, b.entry, b.taken, b.predicted,
                    b.cycles.executions, b.cycles.sum, b.cycles.min, b.cycles.max, b.ipc.value_or(0)));
  return lines;
}

// The IPC of a block is that of the longest line that ends with its branch: the call's has 4 instructions and
// took 8 cycles, that from the first instruction to je 4 in 6.
TEST_F(CountedProgramTest, BlocksHaveTheCyclesOfTheirLongestLine) {
  const Report report = report_of_run();
  const AnnotatedFunction& start = *find_function(report, "_start");
  EXPECT_THAT(lines_of(start.blocks),
              ElementsAre("401000-401000 [0+1] 1 entered 1 left 0 predicted 0: 0 0 0 0 ipc 0.000",
                          "401005-40100a [1+3] 3 entered 2 left 2 predicted 1: 1 6 6 6 ipc 0.667",
                          "40100c-40100c [4+1] 1 entered 0 left 1 predicted 1: 1 8 8 8 ipc 0.500",
                          "401011-401013 [5+2] 3 entered 3 left 3 predicted 3: 3 6 1 3 ipc 1.000"));
  // 4 + 4 + 3 * 2 instructions in 6 + 8 + 6 cycles; 6 of its 10 instructions are in these blocks.
  EXPECT_THAT(start.average_ipc.value_or(0), DoubleEq(0.7));
  EXPECT_THAT(start.ipc_coverage, DoubleEq(0.6));
}

TEST_F(CountedProgramTest, JumpsWithinAFunctionAreSortedByTakenCount) {
  const Report report = report_of_run();
  std::vector<std::string> jumps;
  for (const Jump& j : find_function(report, "_start")->jumps)
    jumps.push_back(fmt::format("{}-{} {} {} {}", j.from, j.to, j.taken, j.predicted, j.mispredicted));
  EXPECT_THAT(jumps, ElementsAre("6-1 3 3 0", "3-5 2 1 1"));
}

TEST_F(CountedProgramTest, BranchesAreRankedWithTheirCycles) {
  const Report report = report_of_run();
  std::vector<std::string> branches;
  for (const Branch& b : report.branches)
    branches.push_back(fmt::format("{:x}:{}-{:x}:{} {} {} {} {} {}", b.from.address, b.from.where.line,
                                   b.to.address, b.to.where.line, b.taken, b.predicted, b.mispredicted,
                                   b.timed, b.cycles));
  EXPECT_THAT(branches, ElementsAre("401013:18-401005:12 3 3 0 3 6", "40100a:14-401011:17 2 1 1 2 10",
                                    "40100c:15-401020:25 1 1 0 1 8", "401021:26-401011:17 1 1 0 1 5",
                                    "401033:32-401000:10 1 1 0 1 9"));
  EXPECT_EQ(report.totals.branch_stacks, 1u);
  EXPECT_EQ(report.totals.branch_entries, 8u);
  EXPECT_EQ(report.totals.blocks, 7u) << "between 8 branches";
  EXPECT_EQ(report.totals.broken_blocks, 0u);
}

TEST_F(CountedProgramTest, TwoProcessesAtOtherAddressesCountTogether) {
  Profile p = profile();
  run(p, 1);
  run(p, 2);
  const Report report = p.report();
  EXPECT_EQ(report.modules[0].weights, (Weights{{2, 60}}));
  EXPECT_EQ(report.branches[1].taken, 4u);
  EXPECT_EQ(report.branches[1].predicted, 2u);
  EXPECT_EQ(report.branches[1].mispredicted, 2u);
  EXPECT_EQ(report.branches[1].timed, 4u);
  EXPECT_EQ(report.branches[1].cycles, 20u);
  EXPECT_EQ(report.totals.blocks, 14u);
  EXPECT_THAT(lines_of(find_function(report, "_start")->blocks).back(),
              "401011-401013 [5+2] 6 entered 6 left 6 predicted 6: 6 12 1 3 ipc 1.000");
}

// Fields of two bits, of which 3 means 3 or more: a word for each branch, the newest first.
const std::vector<u64> words{0b0001, 0b0010, 0b0100, 0b1000, 0b0011, 0b0101, 0b0110, 0b1111};
const SampledEvent with_counters{"cycles", BranchUse::every_branch, {.counters = 2, .bits = 2}};

TEST_F(CountedProgramTest, LbrCountersBelongToTheBlockBeforeABranch) {
  Profile p = profile(with_counters);
  p.set_branch_counters({"loads", "stores"});
  run(p, 1, words);
  const Report report = p.report();
  const auto& blocks = find_function(report, "_start")->blocks;
  EXPECT_THAT(blocks[0].counters, IsEmpty());
  EXPECT_THAT(blocks[1].counters, ElementsAre(2, 1));  // je, the oldest but one: 0110
  EXPECT_THAT(blocks[2].counters, ElementsAre(3, 0));  // call: 0011
  EXPECT_THAT(blocks[3].counters, ElementsAre(2, 2));  // jne: 0101, 0100 and 0001
  EXPECT_FALSE(blocks[1].counters_saturated);
  EXPECT_TRUE(blocks[2].counters_saturated);
  EXPECT_FALSE(blocks[3].counters_saturated);
}

TEST_F(CountedProgramTest, ALineHasCountersWhereOneProcessHadThem) {
  for (const u32 pid : {1u, 2u}) {
    Profile p = profile(with_counters);
    p.set_branch_counters({"loads", "stores"});
    run(p, 1, pid == 1 ? words : std::vector<u64>());
    run(p, 2, pid == 2 ? words : std::vector<u64>());
    const Report report = p.report();
    EXPECT_THAT(find_function(report, "_start")->blocks[1].counters, ElementsAre(2, 1)) << "process " << pid;
  }
}

// Conditions have the names of the manuals and of binutils, not those of Zydis.
TEST_F(CountedProgramTest, AConditionalMoveIsNamedAsObjdumpDoes) {
  Profile p = profile();
  const auto branches = counted::newest_first(
      {{counted::jmp, counted::tail}, {counted::jmp, counted::tail}, {counted::jmp, counted::jmp}});
  p.add({.pid = 1, .ip = counted::tail + counted::moved, .branches = branches});
  const Report report = p.report();
  const AnnotatedFunction& tail = *find_function(report, "tail");
  EXPECT_THAT(lines_of(tail), ElementsAre("401030 3 31: cmove %eax, %ecx | 2 1.00 +2 100.00%",
                                          "401033 2 32: jmp 0x401030 <tail> | 2 1.00 -2 100.00% p2 100.00%"));
}

TEST_F(CountedProgramTest, WithoutBranchStacksNothingHasHeat) {
  Profile p = profile({"cycles", BranchUse::none});
  run(p);
  const Report report = p.report();
  const AnnotatedFunction& start = *find_function(report, "_start");
  for (const Instruction& i : start.instructions) EXPECT_FALSE(i.heat.has_value());
  EXPECT_FALSE(start.average_ipc.has_value());
}

// Two samples in leaf under _start, one in _start itself; a caller is known by the address behind its call.
TEST_F(CountedProgramTest, CallChainsGiveATreeAndTotalsWithCallees) {
  Profile p = profile({"cycles", BranchUse::none});
  const auto sample = [&](std::vector<u64> chain, u64 period) {
    p.add({.pid = 1, .ip = chain[0], .period = period, .callchain = chain});
  };
  const u64 in_leaf = counted::leaf + counted::moved, in_start = counted::skip + counted::moved;
  sample({in_leaf, in_start}, 5);
  sample({in_leaf + 1, in_start}, 6);
  sample({in_start}, 20);
  const Report report = p.report();
  ASSERT_EQ(report.stacks.size(), 3u);
  EXPECT_EQ(report.stacks[0].total, (Weights{{3, 31}}));
  EXPECT_EQ(report.stacks[1].self, (Weights{{1, 20}}));
  EXPECT_EQ(report.stacks[1].total, (Weights{{3, 31}}));
  EXPECT_EQ(report.stacks[2].parent, 1u);
  EXPECT_EQ(report.stacks[2].total, (Weights{{2, 11}}));
  const std::string text = ranking_text(report, {Ranking::symbols}, Colours::none);
  EXPECT_EQ(text,
            "# cycles: 3 samples, event count 31\n"
            "\n# Overhead   Samples  Children  Module               Symbol\n"
            "    64.52%         1   100.00%  counted              _start\n"
            "    35.48%         2    35.48%  counted              leaf\n");
}

TEST_F(CountedProgramTest, StacksBelowTheLeastShareAreDropped) {
  options.min_stack_share = 0.3;
  Profile p = profile({"cycles", BranchUse::none});
  const auto sample = [&](u64 ip, u64 caller) {
    p.add({.pid = 1, .ip = ip, .callchain = std::vector<u64>{ip, caller}});
  };
  for (int i = 0; i < 3; ++i) sample(counted::leaf + counted::moved, counted::skip + counted::moved);
  sample(counted::tail + counted::moved, counted::skip + counted::moved);
  const Report report = p.report();
  std::vector<u64> totals;
  for (const StackNode& node : report.stacks) totals.push_back(node.total[0].samples);
  EXPECT_THAT(totals, ElementsAre(4, 4, 3)) << "the one in tail is a quarter";
}

TEST_F(CountedProgramTest, OnlyTheHottestFunctionsAreAnnotated) {
  options.max_functions = 1;
  const Report report = report_of_run();
  ASSERT_EQ(report.functions.size(), 1u);
  EXPECT_EQ(report.symbols[report.functions[0].symbol].name, "_start");
  EXPECT_EQ(report.symbols[0].function, 0u);
  EXPECT_EQ(report.symbols[1].function, nothing);
}

TEST_F(CountedProgramTest, KernelAndUnmappedAddressesAreNamedSo) {
  Profile p = profile();
  p.add({.pid = 1, .ip = 0xFFFFFFFF81000010, .period = 3});
  p.add({.pid = 1, .ip = 0x7FFFFFFF0000, .period = 2});
  const Report report = p.report();
  EXPECT_EQ(report.modules[0].path, "[kernel]");
  EXPECT_EQ(report.modules[1].path, "[unknown]");
  EXPECT_THAT(report.notes,
              ElementsAre("[kernel]: symbols of kernels are in a file of their own (--kallsyms)",
                          "[unknown]: no mapping of a file is known here"));
}

TEST_F(CountedProgramTest, EveryRankingIsATable) {
  const Report report = report_of_run();
  EXPECT_EQ(
      ranking_text(report, {Ranking::symbols, Ranking::modules, Ranking::lines, Ranking::branches},
                   Colours::none),
      fmt::format(
          "# cycles: 2 samples, event count 40\n"
          "# 1 branch stacks with 8 branches\n"
          "\n# Overhead   Samples  Module               Symbol\n"
          "    75.00%         1  counted              _start\n"
          "    25.00%         1  counted              leaf\n"
          "\n# Overhead   Samples  Module\n"
          "   100.00%         2  {}\n"
          "\n# Overhead   Samples  Source line                    Symbol\n"
          "    75.00%         1  counted.s:12                   _start\n"
          "    25.00%         1  counted.s:25                   leaf\n"
          "\n#    Share     Taken  Predicted  Cycles  Branch\n"
          "    37.50%         3    100.00%       2  _start+0x13 (counted.s:18) -> _start+0x5 (counted.s:12)\n"
          "    25.00%         2     50.00%       5  _start+0xa (counted.s:14) -> _start+0x11 (counted.s:17)\n"
          "    12.50%         1    100.00%       8  _start+0xc (counted.s:15) -> leaf+0x0 (counted.s:25)\n"
          "    12.50%         1    100.00%       5  leaf+0x1 (counted.s:26) -> _start+0x11 (counted.s:17)\n"
          "    12.50%         1    100.00%       9  tail+0x3 (counted.s:32) -> _start+0x0 (counted.s:10)\n",
          counted::path));
}

TEST_F(CountedProgramTest, ShareIsWholeForOneEventAndZeroForNone) {
  for (const u64 period : {0u, 1u}) {
    Profile p = profile({"cycles", BranchUse::none});
    p.add({.pid = 1, .ip = counted::leaf + counted::moved, .period = period});
    EXPECT_THAT(ranking_text(p.report(), {Ranking::symbols}, Colours::none),
                HasSubstr(period == 0 ? "     0.00%         1  " : "   100.00%         1  "));
  }
}

TEST_F(CountedProgramTest, TextHasSourceLinesAndBlockColumns) {
  const Report report = report_of_run();
  const std::string text = annotation_text(report, *find_function(report, "_start"), Colours::none);
  const std::string head = fmt::format(
      "_start in {} for cycles (1 samples), percent: local period  (Average IPC: 0.70, IPC Coverage: "
      "60.0%)\n",
      counted::path);
  EXPECT_TRUE(text.starts_with(head)) << text;
  EXPECT_THAT(
      text, HasSubstr(" Percent    IPC      Cycle(min/max) | Source code & Disassembly\n"
                      "                                    : 10      mov $8, %ecx                  # 401000\n"
                      "    0.00                            :   401000:  mov $0x8, %ecx\t# +33.33%\n"
                      "                                    : 12      add %rcx, %rax                # 401005\n"
                      "  100.00                            :   401005:  add %rcx, %rax\t# +66.67%\n"
                      "                                    : 13      test $1, %al                  # 401008\n"
                      "    0.00                            :   401008:  test $0x1, %al\n"
                      "                                    : 14      je .Lskip                     # 40100a\n"
                      "    0.00   0.67              6(6/6) :   40100a:  je 0x401011 <_start+0x11>\t# -66.67% "
                      "(p:50.00%)\n"));
}

// The kernel's half, a JIT's anonymous memory and what objdump calls: names in brackets may be typed without
// them.
TEST(Names, AreFoundAsPeopleTypeThem) {
  EXPECT_TRUE(has_name("[libx.so+0x10]", "", "libx.so+0x10"));
  EXPECT_TRUE(has_name("[libx.so+0x10]", "", "[libx.so+0x10]"));
  EXPECT_FALSE(has_name("[libx.so+0x10]", "", "ibx.so+0x10"));
  EXPECT_FALSE(has_name("[libx.so+0x10", "", "libx.so+0x1"));
  EXPECT_TRUE(has_name("area(int)", "_Z4areai", "area"));
  EXPECT_TRUE(has_name("area(int)", "_Z4areai", "_Z4areai"));
  EXPECT_FALSE(has_name("area(int)", "_Z4areai", "are"));
}

}  // namespace
}  // namespace pmusim::annotate
