// SPDX-License-Identifier: MIT
// Parts of a program's run, recorded by either recorder.
#include <gmock/gmock.h>

#include "command.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

class RecordedRegion : public testing::Test {
 protected:
  Output record(std::vector<std::string> options, const std::string& file = "t") const {
    std::vector<std::string> command{pmusim(), "trace", "record", "-o", scratch_.file(file)};
    command.insert(command.end(), options.begin(), options.end());
    return run(command);
  }
  /// Addresses of the instructions, in order.
  std::vector<std::string> addresses(const std::string& file = "t") const {
    std::vector<std::string> result;
    for (const std::string& line :
         lines(run({pmusim(), "trace", "dump", "--json", scratch_.file(file)}).out)) {
      const Json json = parse_json(line);
      if (!json.contains("record")) result.push_back(json["ip"].dump());
    }
    return result;
  }
  ScratchDirectory scratch_;
};

TEST_F(RecordedRegion, IsTheSameUnderBothRecorders) {
  const std::vector<std::string> rest{"--start-symbol",     "branches", "--count", "20000", "--",
                                      workload("branches"), "400"};
  std::vector<std::string> fast{"--fast"}, step{"--step"};
  fast.insert(fast.end(), rest.begin(), rest.end());
  step.insert(step.end(), rest.begin(), rest.end());
  const Output stepped = record(step, "step");
  EXPECT_EQ(stepped.status, 0) << stepped.err;
  EXPECT_THAT(stepped.err, HasSubstr("the program went on unrecorded"));
  const Output translated = record(fast, "fast");
  EXPECT_EQ(translated.status, 0) << translated.err;
  EXPECT_GT(addresses("step").size(), 20'000u - 1);
  EXPECT_EQ(addresses("fast"), addresses("step"));
}

TEST_F(RecordedRegion, BeginsAndEndsAtMarks) {
  const Output output = record({"--marks", "--", TEST_MARKS});
  EXPECT_EQ(output.status, 0) << output.err;
  const std::string text = run({pmusim(), "trace", "dump", scratch_.file("t")}).out;
  std::size_t calls = 0;
  for (std::size_t at = 0; (at = text.find("direct call", at)) != std::string::npos; ++at) ++calls;
  EXPECT_EQ(calls, 11u) << "ten between the marks, one at the end of the stop mark's block\n" << text;
  EXPECT_THAT(record({"--marks", "--", "true"}).err, HasSubstr("the program reached no start mark"));
}

TEST_F(RecordedRegion, EndsWithASize) {
  const Output output = record({"--max-size", "10K", "--", workload("branches"), "200000"});
  EXPECT_EQ(output.status, 0) << output.err;
  const Json info = parse_json(run({pmusim(), "trace", "info", "--json", scratch_.file("t")}).out);
  EXPECT_GT(info["instructions"], 500'000u);
  EXPECT_LT(info["instructions"], 3'000'000u) << "a chunk at most more, of 14 million";
}

TEST_F(RecordedRegion, OfTheFastRecorderThatNeverBeginsIsAnError) {
  const Output output = record({"--fast", "--start-symbol", "nowhere", "--", workload("branches"), "2"});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err,
              HasSubstr("neither the program nor a library that it mapped has a function 'nowhere'"));
}

TEST_F(RecordedRegion, NeedsAProgramOrAProcess) {
  EXPECT_EQ(record({"--count", "5"}).status, 2);
  const Output both = record({"-p", "1", "--", "true"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("expected either a program to record or -p PID"));
  EXPECT_THAT(record({"--max-size", "much", "--", "true"}).err, HasSubstr("expected a size as 512K"));
  EXPECT_THAT(record({"--fast", "--delay", "5", "--", "true"}).err, HasSubstr("--delay is for single steps"));
}

}  // namespace
}  // namespace pmusim::test
