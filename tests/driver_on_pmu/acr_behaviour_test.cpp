// SPDX-License-Identifier: MIT
// What a group with reloads shows of itself (docs/acr.md).
#include <gtest/gtest.h>

#include "machine.h"

namespace pmusim::driver {
namespace {

using perf::HardwareId;

struct Group {
  Machine machine;
  perf::Event *misses, *branches;
  unsigned samples = 0;

  explicit Group(const char* model, unsigned precise = 0) : machine(model_with_skid(model, 0)) {
    perf::Attr miss = hardware(HardwareId::branch_misses, 20),
               branch = hardware(HardwareId::branch_instructions, 100);
    miss.precise_ip = precise & 3;
    miss.config2 = 0x2;
    branch.config2 = 0x3;
    misses = &machine.opened(miss);
    branches = &machine.opened(branch, misses);
    machine.sink.tell = [this](perf::Event& event, const perf::SampleData&, const InterruptFrame&) {
      EXPECT_EQ(&event, misses);
      ++samples;
    };
    EXPECT_TRUE(machine.schedule(*misses)) << machine.refusal;
  }
  /// Branches of which every `distance`-th is mispredicted.
  void run(unsigned count, unsigned distance) {
    for (unsigned i = 1; i <= count; ++i)
      machine.instruction(i % distance == 0
                              ? SignalSet{Signal::instruction, Signal::branch, Signal::mispredicted}
                              : SignalSet{Signal::instruction, Signal::branch});
    machine.idle();
  }
};

TEST(AcrBehaviour, EvenMissesAreSampledOnlyAboveTheRatio) {  // 3.3
  Group above("skymont"), below("skymont");
  above.run(8000, 4);  // 25 %: a sample every 20 misses
  below.run(8000, 8);
  EXPECT_EQ(above.samples, 100u);
  EXPECT_EQ(below.samples, 0u);
}

TEST(AcrBehaviour, HiddenReloadsAreNotInTheCount) {
  Group group("skymont");
  group.run(1050, 8);
  group.machine.driver.read(*group.branches);
  EXPECT_EQ(group.branches->count, 50u);  // ten windows have gone by unseen
  EXPECT_EQ(group.machine.pmu.acr_reload_count(3), 10u);
}

TEST(AcrBehaviour, ASelfReloadMayInterruptWithoutAStatusBit) {
  Group group("skymont");
  const u32 select = msr::V6_GP0_CFG_A + 4 * static_cast<u32>(data_of(*group.branches).index);
  ASSERT_EQ(group.machine.pmu.wrmsr(select, *group.machine.pmu.rdmsr(select) | msr::evtsel::INT),
            Fault::none);
  group.run(1000, 8);
  EXPECT_EQ(group.machine.driver.statistics().unhandled_interrupts, 10u);
  EXPECT_EQ(group.samples, 0u);
}

TEST(AcrBehaviour, PreciseMissesSampleOneMissLaterThanTheirPeriod) {  // 3.3: the arming takes one
  for (const char* model : {"skymont", "darkmont"}) {
    Group above(model, 2), below(model, 2);
    above.run(8400, 4);
    below.run(8400, 8);
    above.machine.unschedule(*above.misses);
    below.machine.unschedule(*below.misses);
    EXPECT_EQ(above.samples, 100u) << model;  // 2100 misses / 21
    EXPECT_EQ(below.samples, 0u) << model;
  }
}

}  // namespace
}  // namespace pmusim::driver
