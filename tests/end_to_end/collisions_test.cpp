#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/end_to_end/command.h"

namespace pmusim::test {
namespace {

/// Rates of the four event sets, in the published order.
std::vector<double> rates(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{pmusim(), "experiment", "collisions", "--json",
                                     recorded("branches", {"20000"}, "gpr")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Output output = run(arguments);
  EXPECT_EQ(output.status, 0) << output.err;
  const auto document = nlohmann::json::parse(output.out);
  std::vector<double> rates;
  for (const auto& row : document["rows"]) rates.push_back(row["collision_rate"]);
  return rates;
}

TEST(CollisionExperiment, DistinctEventsSeldomCollideAndTheSameEventTwiceAlmostAlways) {
  const std::vector<double> measured = rates({});
  ASSERT_EQ(measured.size(), 4u);
  for (int row = 0; row < 3; ++row) EXPECT_LT(measured[row], 0.01) << row;
  EXPECT_GT(measured[3], 0.95);
}

TEST(CollisionExperiment, ALongerArmDelayCollidesMoreAndMoreEventsCollideMore) {
  const std::vector<double> measured = rates({"--policy", "pebs_arm_cycles=30"});
  ASSERT_EQ(measured.size(), 4u);
  EXPECT_GT(measured[0], 0.01);
  EXPECT_LT(measured[0], measured[1]);
  EXPECT_LT(measured[1], measured[2]);
}

}  // namespace
}  // namespace pmusim::test
