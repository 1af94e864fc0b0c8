// SPDX-License-Identifier: MIT
// `--start` of record, stat, why, mem report and sweep, as a user has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "command.h"
#include "pmusim/base/types.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

class Start : public testing::Test {
 protected:
  std::string trace_ = recorded("mispredict", {"512", "2"});
  ScratchDirectory scratch_;

  Json stat(std::vector<std::string> options) const {
    options.insert(options.begin(),
                   {pmusim(), "stat", "--json", "-e", "cycles,longest_lat_cache.miss,branch-misses"});
    options.push_back(trace_);
    const Output output = run(options);
    EXPECT_EQ(output.status, 0) << output.err;
    return parse_json(output.out);
  }
  static u64 value(const Json& counts, std::size_t event) { return counts["events"][event]["value"]; }
};

TEST_F(Start, WarmCachesHoldTheProgram) {
  const Json cold = stat({}), warm = stat({"--start", "warm"});
  EXPECT_LT(value(warm, 0), value(cold, 0));
  EXPECT_GT(value(cold, 1), 100u);
  EXPECT_LT(value(warm, 1), 10u);
  EXPECT_LT(value(warm, 2), value(cold, 2));
  EXPECT_EQ(warm["start"], "warm");
  EXPECT_FALSE(cold.contains("start"));
  EXPECT_EQ(warm, stat({"--start", "warm", "--exact"}));
}

TEST_F(Start, OfAPartIsWarmedByThatPart) {
  EXPECT_LT(value(stat({"--start", "warm", "--from", "20000"}), 0), value(stat({"--from", "20000"}), 0));
}

TEST_F(Start, EveryCoreOfAMachineIsWarm) {
  EXPECT_LT(value(stat({"--start", "warm", "--machine", "icelake:2c2t"}), 1), 10u);
}

TEST_F(Start, APerfDataSaysIt) {
  const std::string out = scratch_.file("perf.data");
  ASSERT_EQ(run({pmusim(), "record", "-q", "--start", "warm", "-o", out, trace_}).status, 0);
  EXPECT_THAT(run({pmusim(), "report", "-i", out, "--header"}).out,
              HasSubstr("# cpudesc: pmusim Ice Lake, warm\n"));
}

TEST_F(Start, WhyAndMemReportSayIt) {
  EXPECT_THAT(run({pmusim(), "why", "-q", "--start", "warm", trace_}).out, HasSubstr(" on icelake, warm: "));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"why"}, std::vector<std::string>{"mem", "report"}}) {
    std::vector<std::string> arguments{pmusim()};
    arguments.insert(arguments.end(), command.begin(), command.end());
    for (const char* const option : {"-q", "--json", "--start", "warm"}) arguments.emplace_back(option);
    arguments.push_back(trace_);
    EXPECT_EQ(parse_json(run(arguments).out)["start"], "warm");
  }
}

TEST_F(Start, ASweepHasItInItsFile) {
  const auto write = [&](const std::string& start) {
    std::ofstream(scratch_.file("sweep.json"))
        << R"({"traces": [")" << trace_
        << R"("], "models": ["icelake"], "events": {"a": "cycles"}, "start": )" << start << "}";
    return run({pmusim(), "sweep", scratch_.file("sweep.json"), "-o", scratch_.file("results"), "--quiet"});
  };
  ASSERT_EQ(write("\"warm\"").status, 0);
  const Json result = parse_json(read_file(
      scratch_.file("results") + "/" +
      trace_.substr(trace_.rfind('/') + 1, trace_.rfind('.') - trace_.rfind('/') - 1) + ".icelake.a.json"));
  EXPECT_EQ(result["job"]["start"], "warm");
  EXPECT_EQ(result["counts"][0]["count"], value(stat({"--start", "warm"}), 0));
  EXPECT_THAT(write("\"cold\"").err, HasSubstr("is the result of another sweep"));
  EXPECT_THAT(write("\"hot\"").err, HasSubstr("\"start\": there is no start 'hot': 'cold' and 'warm' are"));
}

TEST_F(Start, IsRefusedWhereTheProgramRunsMeanwhile) {
  const Output live = run({pmusim(), "stat", "--start", "warm", "--", "true"});
  EXPECT_EQ(live.status, 2);
  EXPECT_EQ(live.err,
            "pmusim: --start warm: replays a trace twice; --save-trace keeps that of the program\n");
  EXPECT_EQ(run({pmusim(), "stat", "--start", "hot", trace_}).err,
            "pmusim: there is no start 'hot': 'cold' and 'warm' are\n");
}

}  // namespace
}  // namespace pmusim::test
