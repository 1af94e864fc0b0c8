// SPDX-License-Identifier: MIT
// A handler of overflows has overflows of its own: where it takes longer than the period, nothing else would
// ever execute if the event were not throttled.
#include <random>

#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::ContainsRegex;

Output run_overflows(unsigned period, unsigned rounds) {
  return run_live({TEST_PROGRAMS "/overflows", std::to_string(period), std::to_string(rounds)});
}

TEST_F(Live, AProgramWithPeriodOneAndSigioEnds) {
  const Output output = run_overflows(1, 1);
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, ContainsRegex("^ended [1-9][0-9]* [0-9]+\n$")) << "throttled, with a record of it";
}

// Two instructions a round: each handler outlasts its period, by as little as needed, since it executes step
// by step. The main program executes 4,000.
TEST_F(Live, AProgramMakesProgressWhateverThePeriodOfItsSignals) {
  std::mt19937 random(33);
  std::vector<unsigned> periods{1, 2, 3, 1000};
  for (const unsigned most : {10u, 30u, 100u, 300u})
    periods.push_back(static_cast<unsigned>(random() % most) + 1);
  for (const unsigned period : periods) {
    const Output output = run_overflows(period, period / 2 + 1);
    EXPECT_EQ(output.status, 0) << period << ": " << output.err;
    EXPECT_THAT(output.out, ContainsRegex("^ended [1-9]")) << period;
  }
}

TEST_F(Live, AHandlerThatIsShorterThanItsPeriodIsNotThrottled) {
  EXPECT_EQ(run_overflows(500, 10).out, "ended 0 0\n");
}

// An interrupt comes some hundred instructions after its overflow: of 20,000, more than a hundred samples
// come, which is how many a tick allows.
TEST_F(LiveWithPerf, ThrottlesOnRequestWithoutSignals) {
  const auto throttled = [&](const std::vector<std::string>& options) {
    const Output recorded = run_live(
        {"perf", "record", "-o", file("perf.data"), "-e", "instructions:u", "-c", "10", "--", bare_program},
        options);
    EXPECT_EQ(recorded.status, 0) << recorded.err;
    return run_perf({"script", "-D"}, file("perf.data")).out.find("PERF_RECORD_THROTTLE") !=
           std::string::npos;
  };
  EXPECT_FALSE(throttled({}));
  EXPECT_TRUE(throttled({"--throttle"}));
}

}  // namespace
}  // namespace pmusim::test
