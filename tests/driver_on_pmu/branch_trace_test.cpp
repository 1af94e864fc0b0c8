// SPDX-License-Identifier: MIT
// The branch trace store as a sampling source (docs/pebs.md, "Every branch").
#include <gtest/gtest.h>

#include "machine.h"

namespace pmusim::driver {
namespace {

using perf::Event;
using perf::HardwareId;
namespace sample = perf::sample;

perf::Attr every_branch() {
  perf::Attr attr = hardware(HardwareId::branch_instructions, 1);
  attr.sample_type = sample::IP | sample::ADDR;
  attr.exclude_kernel = 1;
  return attr;
}

perf::Attr with_stack() {
  perf::Attr attr = hardware(HardwareId::instructions, 1000);
  attr.sample_type = sample::IP | sample::BRANCH_STACK;
  attr.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  attr.exclude_kernel = 1;
  return attr;
}

using Branches = std::vector<std::pair<u64, u64>>;

class BranchTrace : public testing::TestWithParam<const char*> {
 protected:
  Machine machine{model_with_skid(GetParam(), 24)};
  Branches taken, sampled;

  BranchTrace() {
    machine.sink.tell = [&](Event&, const perf::SampleData& data, const InterruptFrame&) {
      sampled.emplace_back(*data.ip, data.address.value());
    };
  }
  /// Branches with some other instructions in between.
  void run(u64 branches) {
    for (u64 i = 0; i < branches; ++i) {
      machine.ip = 0x1000 + 8 * i;
      machine.instruction();
      taken.emplace_back(machine.ip + 4, machine.ip + 8);
      machine.branch(taken.back().first, taken.back().second);
    }
  }
};

TEST_P(BranchTrace, EveryTakenBranchIsASampleWithItsTarget) {
  Event& event = machine.opened(every_branch());
  ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
  run(10'000);
  EXPECT_GT(machine.driver.statistics().interrupts, 2u) << "the buffer holds 2730 records";
  EXPECT_LT(machine.driver.statistics().interrupts, 5u);
  machine.unschedule(event);
  EXPECT_EQ(sampled, taken);
  EXPECT_EQ(event.count, taken.size());
  EXPECT_EQ(machine.driver.statistics().unhandled_interrupts, 0u);
  EXPECT_EQ(describe(machine.driver.statistics().faults), "");
}

TEST_P(BranchTrace, ReadingTakesWhatTheBufferHolds) {
  Event& event = machine.opened(every_branch());
  ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
  run(100);
  machine.driver.read(event);
  EXPECT_EQ(event.count, 100u);
  run(5);
  machine.unschedule(event);
  EXPECT_EQ(sampled, taken);
}

TEST_P(BranchTrace, ATaskThatLeavesTakesItsBranchesAlong) {
  Event& event = machine.opened(every_branch());
  ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
  run(100);
  machine.driver.context_switch(perf::PmuDriver::SwitchDirection::out, {});
  EXPECT_EQ(sampled, taken);
}

TEST_P(BranchTrace, NothingIsStoredWhileTheEventIsStopped) {
  Event& event = machine.opened(every_branch());
  ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
  machine.unschedule(event);
  run(10);
  ASSERT_TRUE(machine.schedule(event));
  taken.clear();
  run(10);
  machine.unschedule(event);
  EXPECT_EQ(sampled, taken);
  EXPECT_EQ(*machine.pmu.rdmsr(msr::DEBUGCTL) & (msr::debugctl::TR | msr::debugctl::BTS), 0u);
}

TEST_P(BranchTrace, CountersGoOnBesideIt) {
  Event& event = machine.opened(every_branch());
  perf::Attr counting = hardware(HardwareId::instructions);
  counting.exclude_kernel = 1;
  Event& instructions = machine.opened(counting, &event);
  ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
  run(10'000);
  machine.unschedule(event);
  EXPECT_EQ(event.count, 10'000u);
  EXPECT_EQ(instructions.count, 20'000u);
}

TEST_P(BranchTrace, ExcludesTheLbrForAsLongAsItIsOpen) {
  Event& trace = machine.opened(every_branch());
  EXPECT_EQ(machine.refusal, "");
  machine.opened(with_stack());
  EXPECT_EQ(machine.refusal, "branch_sample_type: another event traces every branch, which excludes the LBR");
  machine.driver.destroy(trace);
  machine.refusal.clear();
  Event& stack = machine.opened(with_stack());
  EXPECT_EQ(machine.refusal, "");
  machine.opened(every_branch());
  EXPECT_EQ(machine.refusal,
            "sample_period: another event has the LBR, which a trace of every branch excludes");
  machine.driver.destroy(stack);
  machine.refusal.clear();
  machine.opened(every_branch());
  EXPECT_EQ(machine.refusal, "");
}

TEST_P(BranchTrace, OnlyUserModeCanBeTracedAndNotPrecisely) {
  perf::Attr with_kernel = every_branch();
  with_kernel.exclude_kernel = 0;
  machine.opened(with_kernel);
  EXPECT_EQ(machine.refusal, "exclude_kernel: every branch can be sampled in user mode only");
  perf::Attr precise = every_branch();
  precise.precise_ip = 1;
  machine.opened(precise);
  EXPECT_EQ(machine.refusal,
            "precise_ip: samples of every branch come from the branch trace store, not from PEBS");
  EXPECT_EQ(machine.refused_with, EOPNOTSUPP);
}

TEST(BranchTraceRefusals, WithoutAStoreNotEveryBranchCanBeSampled) {
  CpuModel model = *find_cpu_model("icelake");
  model.pebs.format = PebsFeatures::none;  // and with it the DS area
  Machine machine(model);
  machine.opened(every_branch());
  EXPECT_EQ(machine.refused_with, EOPNOTSUPP);
}

INSTANTIATE_TEST_SUITE_P(Models, BranchTrace,
                         testing::Values("westmere", "sandybridge", "skylake", "icelake", "skymont",
                                         "cougarcove"));

TEST(BranchTraceSetUp, OtherPeriodsFrequencyAndFiltersUseACounter) {
  Machine machine(model_with_skid("icelake", 24));
  perf::Attr period = every_branch(), frequency = every_branch(), filtered = every_branch();
  period.sample_period = 2;
  frequency.freq = 1;
  filtered.sample_type |= sample::BRANCH_STACK;
  filtered.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  for (const perf::Attr& attr : {period, frequency, filtered}) {
    Event& event = machine.opened(attr);
    ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
    EXPECT_LT(data_of(event).index, 32);
    machine.unschedule(event);
  }
}

TEST(BranchTraceSetUp, RecordsThatTouchTheKernelAreDropped) {
  Machine machine(model_with_skid("icelake", 24));
  Branches sampled;
  machine.sink.tell = [&](Event&, const perf::SampleData& data, const InterruptFrame&) {
    EXPECT_EQ(data.cpl, Cpl::user);
    sampled.emplace_back(*data.ip, data.address.value());
  };
  Event& event = machine.opened(every_branch());
  ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
  machine.branch(0x1000, 0x2000);
  machine.branch(0x2004, 0xFFFF'FFFF'8100'0000);
  machine.unschedule(event);
  EXPECT_EQ(sampled, (Branches{{0x1000, 0x2000}}));
}

}  // namespace
}  // namespace pmusim::driver
