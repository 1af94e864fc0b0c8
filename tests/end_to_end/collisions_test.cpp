// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <regex>
#include <sstream>

#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

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
    return parse_json(output.out)["rows"];
  }
  /// Fewer replays than by default, for the sake of slow builds. The rows still differ by more than four
  /// times their standard error, because most collisions of a row are also those of the next.
  static const json& rows_of_sixteen() {
    static std::map<std::string, json> of_program;
    json& found = of_program[GetParam().name];
    if (found.is_null()) found = rows({"--replays", "16"});
    return found;
  }
};

TEST_P(CollisionExperiment, ReproducesThePublishedOrderOfCollisions) {
  const json& measured = rows_of_sixteen();
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

/// What docs/pebs.md gives for the defaults, in percent: of the program's column.
std::vector<double> rates_of_the_page(std::string_view program) {
  const std::string page = read_file(PMUSIM_SOURCE_DIR "/docs/pebs.md");
  std::smatch columns;
  const std::regex row(R"(\n\| 4 \| 2 \| 2003 \| ([\d. ]+) % \| ([\d. ]+) % \|)");
  if (!std::regex_search(page, columns, row)) return {};
  std::istringstream column(columns[program == "branches" ? 1 : 2]);
  return {std::istream_iterator<double>(column), {}};
}

// What a processor's libc does before main differs, and rates with it: an interval that is as wide again.
TEST_P(CollisionExperiment, GivesWhatThePageSays) {
  const json& measured = rows_of_sixteen();
  const std::vector<double> page = rates_of_the_page(GetParam().name);
  ASSERT_EQ(page.size(), 3u);
  for (std::size_t row = 0; row < page.size(); ++row) {
    const double low = measured[row]["confidence_95"][0], high = measured[row]["confidence_95"][1];
    EXPECT_GT(page[row] / 100, low - (high - low) / 2) << row;
    EXPECT_LT(page[row] / 100, high + (high - low) / 2) << row;
  }
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
