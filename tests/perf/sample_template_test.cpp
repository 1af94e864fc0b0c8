// SPDX-License-Identifier: MIT
// Which samples have a fixed form is what the headers promise; a template is as long as the record that it
// stands for.
#include "perf/sample_template.h"

#include <gtest/gtest.h>

namespace pmusim::perf {
namespace {

constexpr u64 whole = 0xff0fff, selectors = 0xc00;  // PERF_REG_X86_*: all, and CS and SS of them

class SampleTemplateTest : public testing::Test {
 protected:
  SampleTemplateTest() {
    event.leader = &event;
    event.attr.sample_type = sample::IP;
  }
  /// As the core opens an event.
  bool has_template() {
    event.layout = make_sample_layout(event.attr);
    return has_sample_template(event);
  }
  std::size_t record_bytes() const { return sample_size({event, data, frame, environment}).bytes; }

  Event event;
  SampleData data;
  InterruptFrame frame;
  SampleEnvironment environment;
};

TEST_F(SampleTemplateTest, MatchesTheRecordsLengthForAnyRegisters) {
  event.attr.sample_type |= sample::REGS_INTR;
  unsigned found = 0;
  for (u64 low = 0; low <= 0xfff; ++low) {
    event.attr.sample_regs_intr = (whole & ~u64{0xfff}) | low;
    if (!has_template()) continue;
    ++found;
    EXPECT_EQ(make_sample_template(event, {}, frame).bytes, record_bytes()) << low;
  }
  EXPECT_EQ(found, 2u) << "all registers, with and without the selectors";
}

TEST_F(SampleTemplateTest, RegistersAsAWholeHaveOne) {
  event.attr.sample_type |= sample::REGS_INTR;
  for (const u64 mask : {whole, whole & ~selectors, whole | register_mask::XMM_HALVES}) {
    event.attr.sample_regs_intr = mask;
    EXPECT_TRUE(has_template()) << mask;
  }
}

TEST_F(SampleTemplateTest, ABranchStackHasOneUnlessWithCounters) {
  event.attr.sample_type |= sample::BRANCH_STACK;
  event.attr.branch_sample_type = branch::ANY | branch::USER;
  EXPECT_TRUE(has_template());
  event.attr.branch_sample_type |= branch::COUNTERS;
  EXPECT_FALSE(has_template());
}

TEST_F(SampleTemplateTest, WordsAndAllGeneralRegistersArePlain) {
  event.attr.sample_type |= sample::TIME | sample::REGS_INTR;
  event.attr.sample_regs_intr = whole;
  SampleLayout layout = make_sample_layout(event.attr);
  EXPECT_EQ(layout.plain_bytes, 8u + 2 * 8 + 8 + 20 * 8);  // header, IP and TIME, ABI, registers
  event.attr.wakeup_events = 1;
  EXPECT_EQ(make_sample_layout(event.attr).plain_bytes, ~u32{0}) << "samples are counted";
}

}  // namespace
}  // namespace pmusim::perf
