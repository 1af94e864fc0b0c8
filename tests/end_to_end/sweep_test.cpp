// SPDX-License-Identifier: MIT
// `pmusim sweep`: every trace on every model with every set of events, in one process or in many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "command.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

/// Two traces on two models with two sets of events.
class Sweep : public testing::Test {
 protected:
  Sweep() {
    fs::copy_file(recorded("branches", {"400"}), scratch_.file("one.pmutrace"));
    fs::copy_file(recorded("branches", {"27"}), scratch_.file("two.pmutrace"));
    write(R"({"traces": ["one.pmutrace", "two.pmutrace"], "models": ["icelake", "skylake"],
              "events": {"branches": "branches,branch-misses", "time": "cycles,instructions"}})");
  }
  void write(const std::string& text) const { std::ofstream(file()) << text; }
  std::string file() const { return scratch_.file("sweep.json"); }
  std::string folder(const std::string& name) const { return scratch_.file(name); }
  Output sweep(const std::string& results, std::vector<std::string> options = {}) const {
    std::vector<std::string> arguments{pmusim(), "sweep", file(), "-o", folder(results)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments);
  }
  std::map<std::string, std::string> files_of(const std::string& results) const {
    std::map<std::string, std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder(results)))
      files[entry.path().filename().string()] = read_file(entry.path().string());
    return files;
  }

  ScratchDirectory scratch_;
};

TEST_F(Sweep, HasOneFileForEachJobWhateverTheNumberOfThreads) {
  EXPECT_EQ(sweep("alone").status, 0);
  EXPECT_EQ(sweep("four", {"-j", "4"}).status, 0);
  EXPECT_THAT(files_of("alone"), SizeIs(8));
  EXPECT_EQ(files_of("alone"), files_of("four"));
}

TEST_F(Sweep, CountsWhatStatCounts) {
  ASSERT_EQ(sweep("results").status, 0);
  const Output counted = run(
      {pmusim(), "stat", "-x", ",", "-e", "branches", "--model", "skylake", scratch_.file("two.pmutrace")});
  const std::string count = counted.err.substr(0, counted.err.find(','));
  EXPECT_THAT(sweep("results", {"--merge"}).out,
              HasSubstr("two,skylake,branches,branches," + count + ","));
}

TEST_F(Sweep, ShardsTogetherAreTheWholeSweep) {
  ASSERT_EQ(sweep("whole").status, 0);
  EXPECT_EQ(sweep("shards", {"--shard", "1/2"}).status, 0);
  EXPECT_THAT(files_of("shards"), SizeIs(4));
  const Output early = sweep("shards", {"--merge"});
  EXPECT_EQ(early.status, 2);
  EXPECT_EQ(
      early.err,
      "pmusim: " + folder("shards") +
          "/one.icelake.time.json: is missing; run the sweep without --merge until all jobs are done\n");
  EXPECT_EQ(sweep("shards", {"--shard", "2/2"}).status, 0);
  EXPECT_EQ(files_of("shards"), files_of("whole"));
  const Output merged = sweep("shards", {"--merge"});
  EXPECT_EQ(merged.status, 0);
  EXPECT_EQ(merged.out, sweep("whole", {"--merge"}).out);
  EXPECT_THAT(lines(merged.out), SizeIs(1 + 8 * 2));
}

TEST_F(Sweep, GoesOnWithTheJobsThatAreNotDone) {
  const Output first = sweep("results");
  EXPECT_THAT(first.err, HasSubstr("pmusim: 8 of 8 jobs, "));
  fs::remove(folder("results") + "/two.icelake.time.json");
  std::ofstream(folder("results") + "/.part-killed") << "{";  // of a process that was killed
  const Output second = sweep("results");
  EXPECT_THAT(second.err, HasSubstr("pmusim: 1 of 1 jobs, "));
  EXPECT_THAT(second.err, HasSubstr(" s left: two.icelake.time\n"));
  EXPECT_EQ(sweep("results", {"--quiet"}).err, "");
}

TEST_F(Sweep, DoesNotTakeTheResultsOfOtherEventsForItsOwn) {
  ASSERT_EQ(sweep("results").status, 0);
  write(R"({"traces": ["one.pmutrace"], "models": ["icelake"], "events": {"branches": "branches"}})");
  const Output other = sweep("results");
  EXPECT_EQ(other.status, 2);
  EXPECT_EQ(other.err,
            "pmusim: " + folder("results") +
                "/one.icelake.branches.json: is the result of another sweep, of other events or another "
                "trace; give another folder\n");
}

TEST_F(Sweep, KeepsTheResultsOfOtherJobsWhereATraceIsDamaged) {
  fs::resize_file(scratch_.file("two.pmutrace"), 3);
  const Output output = sweep("results", {"-j", "2", "--quiet"});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("pmusim: two.skylake.time: "));
  EXPECT_THAT(output.err, HasSubstr("pmusim: 4 of 8 jobs failed; the results of the others are in "));
  EXPECT_THAT(files_of("results"), SizeIs(4));
}

TEST_F(Sweep, SaysWhatInTheFileIsWrong) {
  const auto refused = [&](const std::string& text) {
    write(text);
    const Output output = sweep("results");
    EXPECT_EQ(output.status, 2) << text;
    return output.err;
  };
  const std::string begin = "pmusim: " + file() + ": ";
  EXPECT_EQ(refused("{"), begin + "is not JSON\n");
  EXPECT_EQ(refused("[]"), begin + "expected an object with \"traces\", \"models\" and \"events\"\n");
  EXPECT_EQ(refused(R"({"trace": []})"),
            begin + "\"trace\": expected \"traces\", \"models\", \"events\" or \"core\"\n");
  EXPECT_EQ(refused(R"({"traces": []})"),
            begin + "\"traces\": expected a list of strings, with one at least\n");
  EXPECT_EQ(
      refused(
          R"({"traces": ["one.pmutrace", "../one.x"], "models": ["icelake"], "events": {"a": "cycles"}})"),
      begin + "\"traces\": two are called one, and would have the same results\n");
  EXPECT_EQ(refused(R"({"traces": ["one.pmutrace"], "models": ["icelake"], "events": {"a/b": "cycles"}})"),
            begin + "\"a/b\": expected a name of letters, digits, '_', '-', '+' and '@'\n");
  EXPECT_THAT(refused(R"({"traces": ["one.pmutrace"], "models": ["icelake"], "events": {"a": "nonsense"}})"),
              HasSubstr(begin + "\"events\": \"a\" on icelake: "));
  EXPECT_THAT(refused(R"({"traces": ["none.pmutrace"], "models": ["icelake"], "events": {"a": "cycles"}})"),
              HasSubstr("none.pmutrace: cannot be read: "));
}

TEST_F(Sweep, RefusesPartsThatAreNone) {
  for (const std::string shard : {"0/2", "3/2", "1", "1/", "/2", "a/b", "1/0", "1/2x"}) {
    const Output output = sweep("results", {"--shard", shard});
    EXPECT_EQ(output.status, 2) << shard;
    EXPECT_EQ(output.err,
              "pmusim: --shard " + shard + ": expected I/N, the I-th of N parts, for example 2/8\n");
  }
}

}  // namespace
}  // namespace pmusim::test
