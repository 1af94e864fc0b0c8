// SPDX-License-Identifier: MIT
// Cgroups, which are sets of the trace's threads: counted, sampled, and named in what perf reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "command.h"
#include "tests/support/json.h"

namespace pmusim::test::cgroups_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

/// A program whose first thread starts three more, which are in "web", the last of them in "web/last".
class Cgroups : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  using Counts = std::map<std::string, unsigned long>;

  static Output pmusim_with(const char* command, std::vector<std::string> options) {
    std::vector<std::string> words{pmusim(), command};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(recorded("simd", {"4"}));
    return run(words);
  }
  static Output stat(std::vector<std::string> options) { return pmusim_with("stat", std::move(options)); }
  /// Instructions by thread id, in the order in which threads first ran.
  static std::vector<std::pair<std::string, unsigned long>> threads() {
    std::vector<std::pair<std::string, unsigned long>> all;
    for (const std::string& line : lines(stat({"-j", "--per-thread", "-e", "instructions"}).err)) {
      const auto object = parse_json(line);
      const std::string thread = object["thread"];
      all.emplace_back(thread.substr(thread.rfind('-') + 1), std::stod(std::string(object["counter-value"])));
    }
    return all;
  }
  std::vector<std::string> with_cgroups(std::vector<std::string> options) const {
    options.insert(options.end(), GetParam().begin(), GetParam().end());
    options.insert(options.end(), {"--cgroup-tasks", "web=" + threads_[1].first + "," + threads_[2].first,
                                   "--cgroup-tasks", "web/last=" + threads_[3].first});
    return options;
  }
  Counts count(std::vector<std::string> options) const {
    options.push_back("--json");
    const auto document = parse_json(stat(with_cgroups(std::move(options))).out);
    Counts counts;
    for (const auto& event : document["events"])
      counts[std::string(event["event"]) +
             (event.contains("cgroup") ? " " + std::string(event["cgroup"]) : "")] = event["value"];
    return counts;
  }

  std::vector<std::pair<std::string, unsigned long>> threads_ = threads();
};

TEST_P(Cgroups, CountWhatTheirThreadsDid) {
  ASSERT_EQ(threads_.size(), 4u);
  const unsigned long last = threads_[3].second, web = threads_[1].second + threads_[2].second + last;
  EXPECT_EQ(count({"-e", "instructions", "--for-each-cgroup", "web,web/last,/"}),
            (Counts{{"instructions web", web},
                    {"instructions web/last", last},
                    {"instructions /", threads_[0].second + web}}));
}

// One name is for all events, of several each is for one, and none is for everybody.
TEST_P(Cgroups, AreGivenToEventsInTurn) {
  EXPECT_EQ(count({"-e", "instructions,branches", "-G", "web/last"}).size(), 2u);
  const Counts counts = count({"-e", "branches", "-e", "instructions,instructions:u", "-G", "web,,web/last"});
  EXPECT_TRUE(counts.contains("branches web"));
  EXPECT_EQ(counts.at("instructions:u web/last"), threads_[3].second);
  EXPECT_GT(counts.at("instructions"), threads_[3].second);
}

// A process whose program is named is in it, with all of its threads.
TEST_P(Cgroups, OfAProgram) {
  std::vector<std::string> options = GetParam();
  options.insert(options.end(), {"-x,", "-G", "all", "--cgroup-tasks", "all=simd", "-e", "instructions"});
  EXPECT_THAT(stat(options).err, ContainsRegex("^[0-9]+,,instructions,all,[0-9]+,100.00"));
  EXPECT_THAT(stat({"-G", "all", "--cgroup-tasks", "all=simd", "-e", "instructions"}).err,
              ContainsRegex("[0-9] +instructions all\n"));
}

TEST_P(Cgroups, SamplesAreOfTheirThreads) {
  if (!installed("perf")) GTEST_SKIP() << "perf is not installed";
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  const auto record = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"-q", "-c", "1009", "-e", "instructions:u", "-o", file});
    const Output output = pmusim_with("record", with_cgroups(std::move(options)));
    EXPECT_EQ(output.status, 0) << output.err;
  };
  record({"-G", "web/last"});
  for (const std::string& line : lines(perf_output({"script", "-F", "tid", "--show-task-events"}, file)))
    if (line.find("PERF_RECORD") == std::string::npos) {
      EXPECT_THAT(line, HasSubstr(threads_[3].first));
    }
  EXPECT_THAT(perf_output({"script", "--show-task-events"}, file),
              HasSubstr(":" + threads_[1].first + "):("));
  record({"--all-cgroups"});
  EXPECT_THAT(perf_output({"report", "--stdio", "--sort", "cgroup"}, file), ContainsRegex("% +/web/last"));
  EXPECT_THAT(perf_output({"script", "--show-cgroup-events"}, file), HasSubstr("cgroup: 2 /web"));
}

INSTANTIATE_TEST_SUITE_P(
    Machines, Cgroups,
    testing::Values(std::vector<std::string>{}, std::vector<std::string>{"--machine", "icelake:2c", "-a"},
                    std::vector<std::string>{"--machine", "icelake:2c4t", "--schedule", "rotate", "-a"}));

TEST(CgroupOptions, RefusalsSayWhatIsWrong) {
  const auto refused = [](std::vector<std::string> options) {
    std::vector<std::string> command{pmusim(), "stat"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(recorded("branches", {"27"}));
    const Output output = run(command);
    EXPECT_EQ(output.status, 2);
    return output.err;
  };
  EXPECT_THAT(refused({"-G", "web"}), HasSubstr("nobody is in it"));
  for (const char* wrong : {"web", "web=", "=1", "/=1", "a//b=1", "web/=1"})
    EXPECT_THAT(refused({"--cgroup-tasks", wrong}), HasSubstr("expected a cgroup and its tasks"));
  EXPECT_THAT(refused({"--machine", "icelake:2c", "-G", "a", "--cgroup-tasks", "a=1"}),
              HasSubstr("only with -a"));
  EXPECT_THAT(refused({"--per-thread", "-G", "a", "--cgroup-tasks", "a=1"}),
              HasSubstr("without --per-thread"));
  EXPECT_THAT(
      refused({"-e", "{cycles,instructions}", "-G", "a,b", "--cgroup-tasks", "a=1", "--cgroup-tasks", "b=2"}),
      HasSubstr("count for one cgroup"));
  EXPECT_THAT(refused({"-e", "cycles", "-G", "a,a,a", "--cgroup-tasks", "a=1"}),
              HasSubstr("3 cgroups for 1 events"));
  EXPECT_THAT(refused({"-G", "a", "--for-each-cgroup", "a", "--cgroup-tasks", "a=1"}),
              HasSubstr("exclude each other"));
}

}  // namespace
}  // namespace pmusim::test::cgroups_test
