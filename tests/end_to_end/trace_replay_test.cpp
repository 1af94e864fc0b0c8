// SPDX-License-Identifier: MIT
// Recorded programs without our driver: the example in C++, and the C interface.
#include <gmock/gmock.h>

#include "command.h"
#include "pmusim/pmusim.h"
#include "pmusim/trace/trace.h"

namespace pmusim::test {
namespace {

u64 instruction_count_of(const std::string& path) { return trace::Reader::open(path)->instruction_count(); }

TEST(TraceReplay, RunsAProgramUnderACustomDriver) {
  const std::string trace = recorded("branches", {"2000"});
  const Output output = run({PMUSIM_EXAMPLES "/trace_replay", trace});
  ASSERT_EQ(output.status, 0) << output.err;
  const std::vector<std::string> printed = lines(output.out);
  const u64 instructions = instruction_count_of(trace);
  EXPECT_EQ(printed.back(), std::to_string(instructions) + " instructions");
  // Each interrupt is a few instructions late, and what it counts meanwhile is not of the next period.
  EXPECT_LE(printed.size() - 1, instructions / 10000);
  EXPECT_GE(printed.size() - 1, instructions / 10200);
}

TEST(TraceReplay, OfAMissingTraceSaysSo) {
  const Output output = run({PMUSIM_EXAMPLES "/trace_replay", "no-such-trace"});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, testing::HasSubstr("no-such-trace"));
}

TEST(TraceReplay, FeedsSeveralProcessorsOfC) {
  const std::string trace = recorded("branches", {"2000"});
  pmusim_cpu* const cpus[] = {pmusim_create("skylake", nullptr), pmusim_create("icelake", nullptr)};
  for (pmusim_cpu* const cpu : cpus) {
    EXPECT_EQ(pmusim_wrmsr(cpu, 0x186, 0x4100C0), PMUSIM_OK);
    EXPECT_EQ(pmusim_wrmsr(cpu, 0x38F, 1), PMUSIM_OK);
  }
  u64 retired = 0;
  EXPECT_EQ(pmusim_run_trace(cpus, 2, trace.c_str(), ~u64{0}, &retired), PMUSIM_OK) << pmusim_last_error();
  EXPECT_EQ(retired, instruction_count_of(trace));
  for (pmusim_cpu* const cpu : cpus) {
    u64 counted = 0;
    EXPECT_EQ(pmusim_rdmsr(cpu, 0xC1, &counted), PMUSIM_OK);
    EXPECT_EQ(counted, retired);
    pmusim_destroy(cpu);
  }
}

}  // namespace
}  // namespace pmusim::test
