// SPDX-License-Identifier: MIT
// Watched programs have the SIGTRAP that they have alone, whatever steps do with it.
#include "tests/live/live.h"

namespace pmusim::test {
namespace {

TEST_F(LiveWithPerf, ProgramsSeeTheirTrapsAsAlone) {
  const std::string program = std::string(TEST_PROGRAMS) + "/traps";
  const Output alone = run({program}), watched = run_live({"perf", "stat", "-e", "instructions:u", program});
  EXPECT_THAT(alone.out, testing::HasSubstr("executed: 0 traps, ignored, blocked"));
  EXPECT_EQ(watched.out, alone.out) << watched.err;
}

TEST_F(Live, CountingLeavesABlockedOrIgnoredTrapSignalAsItWas) {
  EXPECT_EQ(run_live({events_program, "traps"}).out,
            R"(blocked and counted: handled, blocked, pending, taken 0
pending and counted: handled, blocked, pending, taken 0
unblocked: handled, open, none waits, taken 1
ignored and counted: ignored, open, none waits, taken 1
ignored while counted: ignored, open, none waits, taken 1
handled: handled, open, none waits, taken 3
)");
}

}  // namespace
}  // namespace pmusim::test
