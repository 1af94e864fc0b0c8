// SPDX-License-Identifier: MIT
// pmusim diff beside perf diff.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/end_to_end/command.h"

namespace pmusim::test::diff_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class DiffTest : public testing::Test {
 protected:
  std::string record(const std::string& name, const std::vector<std::string>& options) const {
    std::string file = scratch_.file(name);
    std::vector<std::string> command{pmusim(), "record", "-q", "-o", file};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(recorded("branches", {"400"}));
    const Output output = run(command);
    EXPECT_EQ(output.status, 0) << output.err;
    return file;
  }

 private:
  ScratchDirectory scratch_;
};

TEST_F(DiffTest, HasTheDeltasOfPerf) {
  const std::string before = record("before", {"-e", "cycles:upp", "-c", "211"});
  const std::string after = record("after", {"-e", "cycles:upp", "-c", "211", "--model", "goldmont"});
  const Output output = run({pmusim(), "diff", "--json", before, after});
  ASSERT_EQ(output.status, 0) << output.err;
  const nlohmann::json report = nlohmann::json::parse(output.out);
  std::map<std::string, double> deltas;
  double sum = 0;
  for (const auto& symbol : report["events"][0]["symbols"]) {
    deltas[symbol["symbol"]] += symbol["delta"].get<double>();
    sum += symbol["delta"].get<double>();
  }
  EXPECT_NEAR(sum, 0, 1e-6) << "what one function loses others get";
  std::size_t compared = 0;
  for (const std::string& line : lines(run({"perf", "diff", "-q", "-s", "sym", before, after}).out)) {
    std::istringstream words(line);
    std::string baseline, delta, mark, symbol;
    if (!(words >> baseline >> delta >> mark >> symbol) || mark != "[.]" || !deltas.contains(symbol))
      continue;
    EXPECT_NEAR(std::stod(delta), deltas.at(symbol), 0.011) << line;
    ++compared;
  }
  EXPECT_GE(compared, 2u);
  const Output text = run({pmusim(), "diff", before, after});
  EXPECT_THAT(text.out, StartsWith("# cycles:upp: "));
  EXPECT_THAT(text.out, HasSubstr("# Baseline     Delta  Module               Symbol\n"));
  EXPECT_THAT(run({pmusim(), "diff", before, before}).out, testing::EndsWith("Symbol\n"));
}

TEST_F(DiffTest, ProfilesWithoutACommonEventAreRefused) {
  const Output output = run({pmusim(), "diff", record("before", {"-e", "cycles:upp", "-c", "211"}),
                             record("after", {"-e", "branches:u", "-c", "211"})});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("no event is in both profiles"));
  EXPECT_THAT(output.err, HasSubstr("has branches:u"));
  EXPECT_EQ(run({pmusim(), "diff", "one.data"}).status, 2);
}

}  // namespace
}  // namespace pmusim::test::diff_test
