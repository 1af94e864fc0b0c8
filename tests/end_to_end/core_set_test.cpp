// SPDX-License-Identifier: MIT
// `--core-set`, and `models --parameters`, as a user has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "command.h"
#include "pmusim/base/types.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class CoreSet : public testing::Test {
 protected:
  std::string trace_ = recorded("mispredict", {"512", "2"});
  ScratchDirectory scratch_;

  Json stat(std::vector<std::string> options) const {
    options.insert(options.begin(), {pmusim(), "stat", "--json", "-e", "cycles,branch-misses"});
    options.push_back(trace_);
    const Output output = run(options);
    EXPECT_EQ(output.status, 0) << output.err;
    return parse_json(output.out);
  }
  static u64 value(const Json& counts, std::size_t event) { return counts["events"][event]["value"]; }
};

TEST_F(CoreSet, ChangesTheCoreAndIsInTheDocument) {
  const Json usual = stat({}), slow = stat({"--core-set", "width=1,predictor=bimodal"});
  EXPECT_GT(value(slow, 0), value(usual, 0));
  EXPECT_NE(value(slow, 1), value(usual, 1));
  EXPECT_EQ(slow["core_set"], "issue_width=1,predictor=bimodal");
  EXPECT_FALSE(usual.contains("core_set"));
}

TEST_F(CoreSet, SeveralAreOneList) {
  EXPECT_EQ(stat({"--core-set", "rob=64", "--core-set", "width=2"}), stat({"--core-set", "rob=64,width=2"}));
}

TEST_F(CoreSet, APerfDataSaysWhatWasChanged) {
  const std::string out = scratch_.file("perf.data");
  ASSERT_EQ(run({pmusim(), "record", "-q", "--core-set", "L2=2MiB", "-o", out, trace_}).status, 0);
  const std::string report = run({pmusim(), "report", "-i", out, "--header"}).out;
  EXPECT_THAT(report, HasSubstr("# cpudesc: pmusim Ice Lake with l2_bytes=2MiB\n"));
}

TEST_F(CoreSet, WhyReplaysOnItAndSaysSo) {
  const Output text = run({pmusim(), "why", "-q", "--core-set", "rob=64", trace_});
  EXPECT_THAT(text.out, HasSubstr(" on icelake with reorder_buffer_uops=64: "));
  const Output json = run({pmusim(), "why", "-q", "--json", "--core-set", "rob=64", trace_});
  EXPECT_EQ(parse_json(json.out)["core_set"], "reorder_buffer_uops=64");
}

TEST_F(CoreSet, IsRefusedWithRangesAndNearNames) {
  const auto refusal = [&](const std::string& list) {
    const Output output = run({pmusim(), "stat", "--core-set", list, trace_});
    EXPECT_EQ(output.status, 2) << list;
    return output.err;
  };
  EXPECT_EQ(refusal("schedular=9"),
            "pmusim: --core-set schedular=9: there is no core parameter 'schedular'; did you mean "
            "scheduler?\n");
  EXPECT_EQ(refusal("rob=0"),
            "pmusim: --core-set rob=0: core parameter reorder_buffer_uops is '0'; it must be 1 to 1048576 "
            "uops\n");
}

TEST_F(CoreSet, ASweepNamesThem) {
  const auto write = [&](const std::string& sets) {
    std::ofstream(scratch_.file("sweep.json"))
        << R"({"traces": [")" << trace_
        << R"("], "models": ["skylake"], "events": {"a": "cycles"}, "core_sets": )" << sets << "}";
    return run({pmusim(), "sweep", scratch_.file("sweep.json"), "-o", scratch_.file("results"), "--quiet"});
  };
  ASSERT_EQ(write(R"({"usual": "", "narrow": "width=1"})").status, 0);
  const Output merged =
      run({pmusim(), "sweep", scratch_.file("sweep.json"), "-o", scratch_.file("results"), "--merge"});
  EXPECT_THAT(merged.out, HasSubstr(",skylake+usual,a,cycles,"));
  EXPECT_THAT(merged.out, HasSubstr(",skylake+narrow,a,cycles,"));
  EXPECT_THAT(write(R"({"narrow": "width=2"})").err, HasSubstr("is the result of another sweep"));
  EXPECT_THAT(write(R"({"none": "width=0"})").err,
              HasSubstr(R"("core_sets": "none" on skylake: core parameter issue_width is '0')"));
}

TEST(ModelsCommand, ParametersHaveValuesUnitsSourcesAndRanges) {
  const std::string text = run({pmusim(), "models", "--parameters", "skylake"}).out;
  EXPECT_THAT(text,
              ContainsRegex("reorder_buffer_uops +rob +224 uops +measured +1 to 1048576 uops +in flight\n"));
  EXPECT_THAT(text, ContainsRegex("l2_bytes +l2 +256KiB +[a-z]+ +1 to 1GiB +second-level cache\n"));
  EXPECT_THAT(text, ContainsRegex("predecode_instructions +5 +measured +0 to 16 "));
}

TEST(ModelsCommand, ParametersAreInJson) {
  const Json all = parse_json(run({pmusim(), "models", "--parameters", "--json", "skylake"}).out);
  EXPECT_EQ(all[0]["model"], "skylake");
  const Json parameters = all[0]["parameters"];
  const auto rob = std::find_if(parameters.begin(), parameters.end(),
                                [](const Json& p) { return p["name"] == "reorder_buffer_uops"; });
  ASSERT_NE(rob, parameters.end());
  EXPECT_EQ((*rob)["value"], 224);
  EXPECT_EQ((*rob)["source"], "measured");
  EXPECT_EQ((*rob)["most"], 1u << 20);
}

TEST(ModelsCommand, ThePageOfParametersIsWhatItPrints) {
  EXPECT_EQ(run({pmusim(), "models", "--parameters", "--markdown"}).out,
            read_file(PMUSIM_SOURCE_DIR "/docs/core-parameters.md"));
}

TEST(ModelsCommand, ThePageOfAModelHasTheRulesOfItsCore) {
  const std::string skylake = run({pmusim(), "models", "--markdown", "skylake"}).out;
  EXPECT_THAT(skylake, HasSubstr("predecode_instructions 5"));
}

}  // namespace
}  // namespace pmusim::test
