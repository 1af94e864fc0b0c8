// SPDX-License-Identifier: MIT
// The PEBS and LBR parts behind the whole driver.
#include <gtest/gtest.h>

#include "machine.h"

namespace pmusim::driver {
namespace {

using perf::HardwareId;

perf::Attr precise(HardwareId id, unsigned level, u64 period) {
  perf::Attr attr = hardware(id, period);
  attr.precise_ip = level & 3;
  attr.sample_type = perf::sample::IP;
  return attr;
}

/// A loop of ten instructions at 0x1000, the last of which branches back.
void loop(Machine& machine, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    for (machine.ip = 0x1000; machine.ip < 0x1024; machine.ip += 4) machine.instruction();
    machine.branch(0x1024, 0x1000);
  }
}

class PreciseModel : public testing::TestWithParam<const char*> {};

TEST_P(PreciseModel, SamplesCarryTheAddressOfABranch) {
  Machine machine(model_with_skid(GetParam(), 24));
  unsigned samples = 0;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
    ++samples;
    EXPECT_TRUE(data.exact_ip);
    EXPECT_EQ(data.ip, 0x1024u);
  };
  perf::Event& branches = machine.opened(precise(HardwareId::branch_instructions, 2, 50));
  ASSERT_TRUE(machine.schedule(branches)) << machine.refusal;
  loop(machine, 2000);
  machine.idle();
  machine.unschedule(branches);
  EXPECT_NEAR(samples, 39, 1);  // a record takes one branch more than the period: 2000 / 51
  EXPECT_EQ(describe(machine.driver.statistics().faults), "");
}

INSTANTIATE_TEST_SUITE_P(Formats, PreciseModel,
                         testing::Values("haswell", "skylake", "icelake", "sapphirerapids", "skymont",
                                         "darkmont"));

// Ten instructions to a period, and 24 of them retire between an overflow and the handling of its interrupt.
TEST(Interrupts, PeriodsShorterThanTheSkidMergeAndAreCounted) {
  Machine machine(model_with_skid("icelake", 24));
  unsigned samples = 0;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData&, const InterruptFrame&) { ++samples; };
  perf::Event& instructions = machine.opened(hardware(HardwareId::instructions, 10));
  ASSERT_TRUE(machine.schedule(instructions)) << machine.refusal;
  for (int i = 0; i < 20'000; ++i) machine.instruction();
  machine.idle();
  machine.unschedule(instructions);
  const u64 merged = machine.driver.statistics().merged_overflows;
  EXPECT_GT(merged, samples);
  const double overflows = static_cast<double>(instructions.count) / 10;
  EXPECT_NEAR(static_cast<double>(samples + merged), overflows, overflows * 0.2)
      << "parts of periods are given up too";
}

TEST(Interrupts, PeriodsLongerThanTheSkidLoseNothing) {
  Machine machine(model_with_skid("icelake", 24));
  perf::Event& instructions = machine.opened(hardware(HardwareId::instructions, 100));
  ASSERT_TRUE(machine.schedule(instructions)) << machine.refusal;
  for (int i = 0; i < 20'000; ++i) machine.instruction();
  machine.unschedule(instructions);
  EXPECT_EQ(machine.driver.statistics().merged_overflows, 0u);
}

TEST(Precise, ManyRecordsWaitForOneDrain) {
  Machine machine(model_with_skid("icelake", 0));
  unsigned samples = 0;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData&, const InterruptFrame&) { ++samples; };
  perf::Event& branches = machine.opened(precise(HardwareId::branch_instructions, 2, 50));
  ASSERT_TRUE(machine.schedule(branches)) << machine.refusal;
  loop(machine, 2000);
  EXPECT_EQ(samples, 0u);
  machine.unschedule(branches);
  EXPECT_NEAR(samples, 39, 1);
  EXPECT_EQ(machine.driver.statistics().interrupts, 0u);
}

TEST(Precise, ARecordWhoseInterruptHasNotComeIsLostAsItsEventStops) {  // Linux: intel_pmu_drain_large_pebs
  const auto samples_of = [](u64 more_fields) {
    Machine machine(model_with_skid("icelake", 1'000'000));
    unsigned samples = 0;
    machine.sink.tell = [&](perf::Event&, const perf::SampleData&, const InterruptFrame&) { ++samples; };
    perf::Attr attr = precise(HardwareId::branch_instructions, 2, 50);
    attr.sample_type |= more_fields;
    perf::Event& branches = machine.opened(attr);
    EXPECT_TRUE(machine.schedule(branches)) << machine.refusal;
    loop(machine, 60);
    machine.unschedule(branches);
    return samples;
  };
  EXPECT_EQ(samples_of(perf::sample::CALLCHAIN), 0u);  // which no large buffer serves
  EXPECT_EQ(samples_of(0), 1u);
}

// Linux: intel_pmu_enable_event_ext, which takes what many records have collected and nothing else.
TEST(Precise, AnothersEventGetsNoRecordThatWasLeftAlone) {
  Machine machine(model_with_skid("darkmont", 1'000'000));
  unsigned samples = 0;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData&, const InterruptFrame&) { ++samples; };
  perf::Attr attr = precise(HardwareId::branch_instructions, 2, 50);
  perf::Event& many = machine.opened(attr);
  attr.sample_type |= perf::sample::CALLCHAIN;
  perf::Event& single = machine.opened(attr);
  EXPECT_TRUE(machine.schedule(single)) << machine.refusal;
  loop(machine, 60);
  const u64 left = machine.pmu.rdmsr(msr::PEBS_INDEX).value_or(0) & pebs::index_register::WRITE_OFFSET;
  EXPECT_NE(left, 0u) << "a record is in the buffer";
  machine.unschedule(single);
  EXPECT_TRUE(machine.schedule(many)) << machine.refusal;
  machine.unschedule(many);
  EXPECT_EQ(samples, 0u);
}

TEST(Precise, CountsOfAutoReloadedEventsAreNearlyExact) {  // the reload wipes what counted until the record
  Machine machine(model_with_skid("icelake", 24));
  perf::Event& branches = machine.opened(precise(HardwareId::branch_instructions, 2, 50));
  ASSERT_TRUE(machine.schedule(branches)) << machine.refusal;
  loop(machine, 2000);
  machine.driver.read(branches);
  EXPECT_NEAR(static_cast<double>(branches.count), 2000, 45);
  machine.unschedule(branches);
  EXPECT_NEAR(static_cast<double>(branches.count), 2000, 45);
}

class BranchModel : public testing::TestWithParam<const char*> {};

TEST_P(BranchModel, SamplesCarryTheBranchesBeforeThem) {
  Machine machine(model_with_skid(GetParam(), 0));
  unsigned samples = 0;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
    ++samples;
    ASSERT_NE(data.branches, nullptr);
    ASSERT_FALSE(data.branches->entries.empty());
    EXPECT_EQ(data.branches->entries[0].from, 0x1024u);
    EXPECT_EQ(data.branches->entries[0].to, 0x1000u);
  };
  perf::Attr attr = hardware(HardwareId::instructions, 1000);
  attr.sample_type = perf::sample::IP | perf::sample::BRANCH_STACK;
  attr.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  attr.exclude_kernel = 1;
  perf::Event& event = machine.opened(attr);
  ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
  loop(machine, 1001);
  EXPECT_EQ(samples, 10u);
  EXPECT_EQ(describe(machine.driver.statistics().faults), "");
}

INSTANTIATE_TEST_SUITE_P(Formats, BranchModel,
                         testing::Values("nehalem", "haswell", "skylake", "icelake", "goldencove",
                                         "skymont"));

}  // namespace
}  // namespace pmusim::driver
