// SPDX-License-Identifier: MIT
// Loops of pmusim why: as often round as the program's source says.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "pmusim/base/types.h"
#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test::why_loops_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class WhyLoops : public testing::Test {
 protected:
  static const json& report() {
    static const json all = [] {
      const Output output = run({pmusim(), "why", "-q", "--json", trace()});
      EXPECT_EQ(output.status, 0) << output.err;
      return parse_json(output.out);
    }();
    return all;
  }
  static const std::string& trace() {
    static const ScratchDirectory scratch;
    static const std::string file = [] {
      std::string path = scratch.file("loops.pmutrace");
      const Output output = run({pmusim(), "trace", "record", "-o", path, "--", TEST_LOOPS});
      EXPECT_EQ(output.status, 0) << output.err;
      return path;
    }();
    return file;
  }
  static std::vector<json> loops_of(const std::string& function) {
    std::vector<json> found;
    for (const json& loop : report()["loops"])
      if (loop["function"] == function) found.push_back(loop);
    return found;
  }
  static json only_loop_of(const std::string& function) {
    const std::vector<json> found = loops_of(function);
    EXPECT_EQ(found.size(), 1u) << function;
    return found.empty() ? json() : found[0];
  }
  static unsigned marked(const std::string& mark) {
    const std::vector<std::string> source = lines(read_file(TEST_LOOPS_SOURCE));
    for (unsigned n = 0; n < source.size(); ++n)
      if (source[n].ends_with("// loop: " + mark)) return n + 1;
    return 0;
  }
};

TEST_F(WhyLoops, InEachOtherAreCountedByEntry) {
  std::vector<json> loops = loops_of("nested");
  ASSERT_EQ(loops.size(), 2u);
  if (loops[0]["parent"].is_null()) std::swap(loops[0], loops[1]);
  const json &inner = loops[0], &outer = loops[1];
  EXPECT_EQ(inner["parent"], outer["address"]);
  EXPECT_TRUE(outer["parent"].is_null());
  EXPECT_EQ(outer["entries"], 1);
  EXPECT_EQ(outer["rounds"], 100);
  EXPECT_EQ(inner["entries"], 100);
  EXPECT_EQ(inner["rounds"], 1000);
  EXPECT_EQ(inner["trips"]["median"], 10);
  EXPECT_EQ(inner["trips"]["max"], 10);
  EXPECT_EQ(inner["trips"]["histogram"].size(), 1u);
  EXPECT_EQ(inner["first_line"], marked("nested inner"));
  EXPECT_EQ(outer["first_line"], marked("nested outer"));
  EXPECT_EQ(outer["last_line"], marked("nested inner"));
  EXPECT_GE(outer["counts"]["cycles"], inner["counts"]["cycles"]);
}

TEST_F(WhyLoops, OfManyLengthsHaveADistribution) {
  const json loop = only_loop_of("triangular");
  EXPECT_EQ(loop["entries"], 50);
  EXPECT_EQ(loop["rounds"], 50 * 51 / 2);
  EXPECT_EQ(loop["trips"]["median"], 25);
  EXPECT_EQ(loop["trips"]["p90"], 45);
  EXPECT_EQ(loop["trips"]["max"], 50);
  EXPECT_EQ(loop["trips"]["histogram"].size(), 50u);
  EXPECT_EQ(loop["timed_rounds"], 49 * 50 / 2 - 1) << "all but the round in which it was noticed";
}

TEST_F(WhyLoops, OfSeveralBlocksAreOne) {
  const json loop = only_loop_of("branching");
  EXPECT_EQ(loop["entries"], 1);
  EXPECT_EQ(loop["rounds"], 300);
  EXPECT_GT(loop["blocks"], 3);
  EXPECT_EQ(loop["first_line"], marked("branching"));
}

TEST_F(WhyLoops, EnteredAtTheirTestAreCountedByIt) {
  const json loop = only_loop_of("entered_at_test");
  EXPECT_EQ(loop["rounds"], 41) << "the test is made once more than the body";
  EXPECT_EQ(loop["blocks"], 2);
}

TEST_F(WhyLoops, OfRecursiveFunctionsAreCountedByCall) {
  const json loop = only_loop_of("recursive");
  EXPECT_EQ(loop["entries"], 5);
  EXPECT_EQ(loop["rounds"], 5 + 4 + 3 + 2 + 1);
  EXPECT_EQ(loop["trips"]["max"], 5);
}

TEST_F(WhyLoops, LeftByALongJumpHaveEnded) {
  const json loop = only_loop_of("left_by_longjmp");
  EXPECT_EQ(loop["entries"], 1);
  EXPECT_NEAR(loop["rounds"].get<double>(), 99.5, 1) << "the last need not begin at the header";
}

TEST_F(WhyLoops, AreNotEndedBySignals) {
  const json interrupted = only_loop_of("interrupted"), handler = only_loop_of("handler");
  EXPECT_EQ(interrupted["entries"], 1);
  EXPECT_EQ(interrupted["rounds"], 20);
  EXPECT_EQ(handler["entries"], 20);
  EXPECT_EQ(handler["rounds"], 220);
}

TEST_F(WhyLoops, HaveTheCountsOfTheirInstructions) {
  for (const json& function : report()["functions"]) {
    if (function["name"] != "triangular") continue;
    u64 cycles = 0;
    for (const json& line : function["lines"])
      for (const json& instruction : line["instructions"])
        if (instruction["counts"]["instructions"] == 50 * 51 / 2)
          cycles += instruction["counts"]["cycles"].get<u64>();
    EXPECT_EQ(only_loop_of("triangular")["counts"]["cycles"], cycles);
  }
}

TEST_F(WhyLoops, AreSentencesWithNumbers) {
  EXPECT_THAT(
      only_loop_of("triangular")["sentence"].get<std::string>(),
      HasSubstr("entered 50 times for 25 rounds at the median, 45 at the 90th percentile, 50 at most"));
  const Output text = run({pmusim(), "why", "-q", trace(), "branching"});
  EXPECT_THAT(text.out, HasSubstr("\nLoops\n"));
  EXPECT_THAT(text.out, HasSubstr(fmt::format("loops.c:{}-", marked("branching"))));
}

}  // namespace
}  // namespace pmusim::test::why_loops_test
