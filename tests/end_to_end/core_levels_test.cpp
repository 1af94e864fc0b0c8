// SPDX-License-Identifier: MIT
// `--core` and `--exact` of record, stat and sweep, as a user has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "command.h"
#include "pmusim/trace/trace.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class CoreLevels : public testing::Test {
 protected:
  std::string trace_ = recorded("mispredict", {"512", "2"});
  ScratchDirectory scratch_;

  std::string stat(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{pmusim(), "stat", "-x,"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(trace_);
    const Output output = run(arguments);
    EXPECT_EQ(output.status, 0) << output.err;
    return output.err;
  }
  /// The samples alone: the header has the command line.
  std::string samples(const std::vector<std::string>& options) const {
    const std::string out = scratch_.file("perf.data");
    std::vector<std::string> arguments{pmusim(), "record", "-q", "-c", "997", "-b", "-o", out};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(trace_);
    const Output output = run(arguments);
    EXPECT_EQ(output.status, 0) << output.err;
    return run({pmusim(), "script", "-i", out, "-F", "ip,time,event,brstack"}).out;
  }
};

TEST_F(CoreLevels, FlatTakesACyclePerInstructionWithoutMispredicts) {
  const u64 instructions = std::move(trace::Reader::open(trace_)).value().instruction_count();
  const std::string counts = stat({"--core", "flat"});
  EXPECT_THAT(counts, HasSubstr(std::to_string(instructions) + ",,cycles"));
  EXPECT_THAT(counts, HasSubstr(std::to_string(instructions) + ",,instructions"));
  EXPECT_THAT(counts, HasSubstr("<not supported>,,branch-misses"));
}

TEST_F(CoreLevels, SimpleKnowsMispredicts) {
  EXPECT_THAT(stat({"--core", "simple"}), Not(HasSubstr("<not supported>")));
}

TEST_F(CoreLevels, TheDefaultGroupHoldsWhatTheLevelKnows) {
  EXPECT_EQ(stat({"--core", "flat", "-g"}), stat({"--core", "flat"}));
  EXPECT_EQ(stat({"--core", "simple", "-g"}), stat({"--core", "simple"}));
}

TEST_F(CoreLevels, ExactChangesNothing) {
  for (const char* level : {"interval", "sampled:500,300,2000", "memory", "simple", "flat"}) {
    EXPECT_EQ(stat({"--core", level}), stat({"--core", level, "--exact"})) << level;
    const std::string fast = samples({"--core", level});
    EXPECT_GT(fast.size(), 1000u);
    EXPECT_EQ(fast, samples({"--core", level, "--exact"})) << level;
  }
}

TEST_F(CoreLevels, ASweepHasItInItsFile) {
  const auto write = [&](const std::string& core) {
    std::ofstream(scratch_.file("sweep.json"))
        << R"({"traces": [")" << trace_ << R"("], "models": ["skylake"], "events": {"a": "cycles"}, "core": )"
        << core << "}";
    return run({pmusim(), "sweep", scratch_.file("sweep.json"), "-o", scratch_.file("results"), "--quiet"});
  };
  EXPECT_EQ(write("\"flat\"").status, 0);
  EXPECT_EQ(write("\"flat\"").status, 0) << "nothing is left to do";
  EXPECT_THAT(write("\"simple\"").err, HasSubstr("is the result of another sweep"));
  EXPECT_THAT(write("\"round\"").err, HasSubstr("\"core\": there is no core 'round'"));
}

}  // namespace
}  // namespace pmusim::test
