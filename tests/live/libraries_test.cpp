// SPDX-License-Identifier: MIT
// Libraries over perf_event_open, as programs use them.
#include <cstdio>
#include <filesystem>

#include "tests/live/live.h"

namespace pmusim::test {
namespace {

TEST_F(Live, PapiCountsExactlyAndSignalsEachOverflow) {
  const std::string program = std::string(TEST_PROGRAMS) + "/papi";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "built without libpapi-dev";
  // PAPI 7.0 knows no presets of Ice Lake.
  const Output output = run_live({program}, {"--model", "skylake"});
  int instructions = 0, branches = 0, signals = 0, overflows = 0;
  ASSERT_EQ(std::sscanf(output.out.c_str(), "%d %d %d of %d signals", &instructions, &branches, &signals,
                        &overflows),
            4)
      << output.out << output.err;
  EXPECT_NEAR(instructions, 2000, 1) << "PAPI's own are not always as many";
  EXPECT_EQ(branches, 1000);
  EXPECT_EQ(signals, overflows);
  EXPECT_GE(signals, 50);
}

TEST_F(Live, EventsOfLibpfmAreCounted) {
  const Output output =
      run_live({std::string(TEST_PROGRAMS) + "/pfm", "INST_RETIRED:ANY_P", "BR_INST_RETIRED:ALL_BRANCHES",
                "BR_INST_RETIRED:COND_TAKEN", "BR_INST_RETIRED:NEAR_CALL"},
               {"--model", "icelake"});
  EXPECT_EQ(output.out, R"(INST_RETIRED:ANY_P: 2000
BR_INST_RETIRED:ALL_BRANCHES: 1000
BR_INST_RETIRED:COND_TAKEN: 1000
BR_INST_RETIRED:NEAR_CALL: 0
)") << output.err;
}

}  // namespace
}  // namespace pmusim::test
