// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/end_to_end/command.h"

namespace pmusim::test {
namespace {

using nlohmann::json;

struct Program {
  std::string name;
  std::vector<std::string> arguments;
};

class CollisionExperiment : public testing::TestWithParam<Program> {
 protected:
  /// The four rows, in the published order.
  static json rows(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{pmusim(), "experiment", "collisions", "--json",
                                       recorded(GetParam().name, GetParam().arguments)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Output output = run(arguments);
    EXPECT_EQ(output.status, 0) << output.err;
    return json::parse(output.out)["rows"];
  }
};

// Fewer replays than by default, for the sake of slow builds. The rows still differ by more than four times
// their standard error, because most collisions of a row are also those of the next.
TEST_P(CollisionExperiment, DistinctEventsCollideSeldomAndInThePublishedOrderAndTheSameEventTwiceAlways) {
  const json measured = rows({"--replays", "16"});
  ASSERT_EQ(measured.size(), 4u);
  double fewer = 0;
  for (int row = 0; row < 3; ++row) {
    EXPECT_GT(measured[row]["collision_rate"], fewer) << measured.dump(2);
    EXPECT_LT(measured[row]["confidence_95"][1], 0.01) << measured.dump(2);
    EXPECT_GT(measured[row]["collided"], 30) << measured.dump(2);
    fewer = measured[row]["collision_rate"];
  }
  EXPECT_GT(measured[3]["confidence_95"][0], 0.95);
}

TEST_P(CollisionExperiment, TheArmDelayMovesTheRates) {
  const json none = rows({"--replays", "2", "--policy", "pebs_arm_cycles=0"});
  const json longer = rows({"--replays", "2", "--policy", "pebs_arm_cycles=30"});
  for (int row = 0; row < 3; ++row)
    EXPECT_GT(longer[row]["confidence_95"][0], none[row]["confidence_95"][1]) << row;
}

INSTANTIATE_TEST_SUITE_P(Workloads, CollisionExperiment,
                         testing::Values(Program{"branches", {"20000"}},
                                         Program{"mispredict", {"4096", "8"}}),
                         [](const auto& program) { return program.param.name; });

TEST(CollisionTable, SaysHowManyCollisionsARateRestsOn) {
  const std::string trace = recorded("branches", {"2000"});
  const Output output = run({pmusim(), "experiment", "collisions", "--replays", "2", trace});
  EXPECT_EQ(output.status, 0) << output.err;
  for (const char* word : {"2 replays", "collided", "95 % confidence", "published"})
    EXPECT_THAT(output.out, testing::HasSubstr(word));
}

}  // namespace
}  // namespace pmusim::test
