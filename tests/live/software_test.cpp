// SPDX-License-Identifier: MIT
// The kernel's software events in groups and buffers of hardware events.
#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

const std::string software_program = std::string(TEST_PROGRAMS) + "/software";

TEST_F(Live, ASoftwareEventMayLeadAHardwareEvent) {
  const Output output = run_live({software_program, "lead"});
  EXPECT_EQ(output.out, "3 members, 8000 instructions, the clock runs\n") << output.err;
}

TEST_F(Live, ASoftwareEventThatCountedAloneLeadsNoHardwareEvent) {
  EXPECT_EQ(run_live({software_program, "late"}).out, "EINVAL\n");
}

TEST_F(Live, PrctlSwitchesTheKernelsEventsToo) {
  EXPECT_EQ(run_live({software_program, "prctl"}).out, "runs, stands\n");
}

TEST_F(LiveWithPerf, GroupsMayBeLedByAClock) {
  const auto counts = [&](const char* events) {
    const Output output =
        run_live({"perf", "stat", "-x,", "-o", file("counts"), "-e", events, "--", bare_program});
    EXPECT_EQ(output.status, 0) << output.err;
    return counts_in(read_file(file("counts")));
  };
  auto led = counts("{task-clock:u,page-faults:u,instructions:u}");
  EXPECT_EQ(led["instructions:u"], counts("instructions:u")["instructions:u"]);
  EXPECT_THAT(led["task-clock:u"], ContainsRegex("^[0-9.]+$")) << "perf shows hundredths of a millisecond";
  EXPECT_GT(std::stoi(led["page-faults:u"]), 0);
}

TEST_F(LiveWithPerf, SamplesHaveTheNameThatAProgramGivesItself) {
  const Output recorded = run_live({"perf", "record", "-o", file("perf.data"), "-e", "branches:u", "-c",
                                    "100", "--", software_program, "name"});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(run_perf({"script", "-F", "comm"}, file("perf.data")).out, HasSubstr("another name"));
}

TEST_F(LiveWithPerf, SamplesPageFaultsAndCyclesIntoOneBuffer) {
  const std::string samples =
      recorded_samples({"-e", "page-faults/period=1/u,cycles/period=500/u"}, {"-F", "event,ip,sym"});
  EXPECT_THAT(samples, HasSubstr("cycles"));
  EXPECT_THAT(samples, ContainsRegex("page-faults[^\n]*(_start|leaf)"));
}

}  // namespace
}  // namespace pmusim::test
