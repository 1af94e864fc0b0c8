// SPDX-License-Identifier: MIT
// AMD's driver with a PMI at every place of what it does, with PerfMonV2 and without: its interrupts come
// late, and without a register that says whose they are.
#include <gtest/gtest.h>

#include "driver/amd/driver.h"
#include "rig.h"

namespace pmusim::driver::amd_explored_test {
namespace {

using explore::Cause;
using perf::HardwareId;
using Rig = ExploredRig<amd::Driver>;
using Direction = perf::PmuDriver::SwitchDirection;

class AmdDriverUnderEveryPmi : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, AmdDriverUnderEveryPmi,
                         testing::Values("naples", "rome", "milan", "genoa", "turin"));

TEST_P(AmdDriverUnderEveryPmi, EnablesAndDisables) {
  expect_no_finding(GetParam(), enable_and_disable<amd::Driver>, one_late);
}

TEST(AmdDriverUnderEveryPairOfPmis, EnablesAndDisables) {
  for (const char* model : {"rome", "genoa"})
    expect_no_finding(model, enable_and_disable<amd::Driver>,
                      {.most_pmis = 2, .causes = {Cause::overflow, Cause::spurious}});
}

/// Floating-point operations take two counters, beside cycles on a third.
void enable_and_disable_a_pair(explore::Cpu& cpu) {
  Rig rig(cpu);
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = 0x103;
  attr.sample_period = explored_period;
  perf::Event& flops = rig.opened(attr);
  rig.events.push_back(&flops);
  perf::Event& cycles = rig.sampling(HardwareId::cpu_cycles);
  cpu.open();
  rig.schedule(cycles);
  rig.schedule(flops);
  rig.driver.read(flops);
  rig.unschedule(cycles);
  rig.unschedule(flops);
  rig.schedule(flops);
  rig.unschedule(flops);
  cpu.close();
  rig.check_end();
}

TEST_P(AmdDriverUnderEveryPmi, EnablesAndDisablesAPair) {
  expect_no_finding(GetParam(), enable_and_disable_a_pair, one_late);
}

void switch_between_two_tasks(explore::Cpu& cpu, Rig& rig, perf::Event& event) {
  cpu.open();
  for (u32 task = 1; task <= 2; ++task) {
    rig.driver.context_switch(Direction::in, {task, task});
    rig.schedule(event);
    rig.driver.read(event);
    rig.unschedule(event);
    rig.driver.context_switch(Direction::out, {task, task});
  }
  cpu.close();
}

void switch_with_branches(explore::Cpu& cpu) {
  Rig rig(cpu);
  perf::Event& branches = rig.sampling(HardwareId::branch_instructions, [](perf::Attr& attr) {
    attr.sample_type |= perf::sample::BRANCH_STACK;
    attr.branch_sample_type = perf::branch::USER | perf::branch::ANY;
  });
  switch_between_two_tasks(cpu, rig, branches);
  rig.check_end();
}

TEST(AmdDriverUnderEveryPmiWithAnLbrStack, SwitchesContexts) {
  for (const char* model : {"genoa", "raphael-early", "turin"})
    expect_no_finding(model, switch_with_branches, one_late);
}

/// An overflow holds its interrupt back until the records are there, or sampling ends.
void sample_branches(explore::Cpu& cpu) {
  Rig rig(cpu);
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = 0xC4;
  attr.sample_period = explored_period;
  attr.sample_type = perf::sample::BRANCH_STACK;
  attr.branch_sample_type = perf::branch::USER | perf::branch::ANY;
  perf::Event& branches = rig.opened(attr);
  switch_between_two_tasks(cpu, rig, branches);
  // What is left of an interval whose overflow was placed is 16; counted is what lay before.
  constexpr u64 records = 16;
  rig.check(branches.count == (explored_period - records) * rig.overflows.count, "a count is lost");
  rig.overflows.count = rig.samples.count = 0;
  rig.check_end();
}

TEST(AmdDriverUnderEveryPmiOfBranchSampling, SwitchesContexts) {
  expect_no_finding("milan", sample_branches, one_late);
}

}  // namespace
}  // namespace pmusim::driver::amd_explored_test
