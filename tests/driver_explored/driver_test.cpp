// SPDX-License-Identifier: MIT
// The Intel driver with a PMI at every place of what it does: nothing is lost, nothing is counted twice, and
// it ends as it ends without (docs/explore.md).
#include <gtest/gtest.h>

#include "rig.h"

namespace pmusim::driver {
namespace {

using explore::Cause;
using perf::HardwareId;

using Rig = ExploredRig<IntelDriver>;

class DriverUnderEveryPmi : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, DriverUnderEveryPmi,
                         testing::Values("nehalem", "skylake", "icelake", "sapphirerapids", "skymont",
                                         "lioncove"));

TEST_P(DriverUnderEveryPmi, EnablesAndDisables) {
  expect_no_finding(GetParam(), enable_and_disable<IntelDriver>, one_late);
}

// The first of a pair found the driver about to write FIXED_CTR_CTRL, and enabled counters without it; then
// the counter that had just been stopped overflowed.
TEST(DriverUnderEveryPairOfPmis, EnablesAndDisables) {
  expect_no_finding("skylake", enable_and_disable<IntelDriver>,
                    {.most_pmis = 2, .causes = {Cause::overflow, Cause::spurious}});
}

void drain(explore::Cpu& cpu) {
  Rig rig(cpu);
  const auto precise = [](perf::Attr& attr) { attr.precise_ip = 2; };
  perf::Event& branches = rig.sampling(HardwareId::branch_instructions, precise);
  perf::Event& cycles = rig.sampling(HardwareId::cpu_cycles);
  cpu.open();
  rig.schedule(branches);
  rig.schedule(cycles);
  rig.driver.read(branches);
  rig.driver.context_switch(perf::PmuDriver::SwitchDirection::out, {1, 1});
  rig.driver.context_switch(perf::PmuDriver::SwitchDirection::in, {2, 2});
  rig.unschedule(branches);
  rig.unschedule(cycles);
  cpu.close();
  rig.check_end();
}

TEST_P(DriverUnderEveryPmi, Drains) { expect_no_finding(GetParam(), drain, one_late); }

void switch_contexts(explore::Cpu& cpu) {
  using Direction = perf::PmuDriver::SwitchDirection;
  Rig rig(cpu);
  perf::Event& branches = rig.sampling(HardwareId::branch_instructions, [&](perf::Attr& attr) {
    attr.sample_type |= perf::sample::BRANCH_STACK;
    attr.branch_sample_type = cpu.pmu().model().lbr.call_stack ? perf::branch::USER | perf::branch::CALL_STACK
                                                               : perf::branch::USER | perf::branch::ANY;
  });
  cpu.open();
  for (u32 task = 1; task <= 2; ++task) {
    rig.driver.context_switch(Direction::in, {task, task});
    rig.schedule(branches);
    rig.unschedule(branches);
    rig.driver.context_switch(Direction::out, {task, task});
  }
  cpu.close();
  rig.check_end();
}

TEST_P(DriverUnderEveryPmi, SwitchesContexts) { expect_no_finding(GetParam(), switch_contexts, one_late); }

/// Misses that are sampled unless a hundred branches come first.
void reload(explore::Cpu& cpu) {
  Rig rig(cpu);
  perf::Event& misses = rig.sampling(HardwareId::branch_misses, [](perf::Attr& attr) { attr.config2 = 0x2; });
  perf::Attr attr = misses.attr;
  attr.config = static_cast<u64>(HardwareId::branch_instructions);
  attr.config2 = 0x3;
  perf::Event& branches = rig.opened(attr, &misses);
  cpu.open();
  rig.schedule(misses);
  rig.driver.read(branches);
  rig.unschedule(misses);
  rig.schedule(misses);
  rig.unschedule(misses);
  cpu.close();
  rig.events.clear();  // reloads take parts of intervals back
  rig.overflows.count = 0;
  rig.samples.count = 0;
  rig.check_end();
}

TEST(DriverUnderEveryPmiOfAnAcrGroup, ReloadsCounters) {
  for (const char* model : {"skymont", "darkmont"}) expect_no_finding(model, reload, one_late);
}

}  // namespace
}  // namespace pmusim::driver
