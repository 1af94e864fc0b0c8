// SPDX-License-Identifier: MIT
// PMIs of AMD's PMUs: which registers the handlers of Linux use in which order, and NMIs that come late.
#include <gmock/gmock.h>

#include "amd_machine.h"

namespace pmusim::driver::amd_test::amd_interrupt_test {
namespace {

using perf::HardwareId;
using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr u32 first_count = 0xC0010201, global_status = 0xC0000300, global_ctl = 0xC0000301,
              global_clear = 0xC0000302, lvtpc = 0x834;

perf::Attr instructions(u64 period) {
  perf::Attr attr = hardware(HardwareId::instructions, period);
  attr.exclude_kernel = 1;
  return attr;
}

TEST(AmdInterrupts, APeriodIsANegativeStart) {
  AmdMachine machine("genoa");
  machine.schedule(machine.opened(instructions(100003)));
  EXPECT_EQ(machine.msr(first_count), 0xFFFF'FFFE'795Du);
}

TEST(AmdInterrupts, SamplesComeAtEveryPeriodAndCountsAreExact) {
  for (const char* const model : {"naples", "milan", "genoa", "turin"}) {
    AmdMachine machine(model);
    std::vector<u64> at;
    u64 retired = 0;
    machine.sink.tell = [&](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
      EXPECT_EQ(data.period, 10u);
      at.push_back(retired);
    };
    perf::Event& event = machine.opened(instructions(10));
    ASSERT_TRUE(machine.schedule(event));
    for (; retired < 35;) {
      ++retired;
      machine.instruction();
      machine.instruction({Signal::instruction}, Cpl::kernel);
    }
    machine.unschedule(event);
    EXPECT_EQ(event.count, 35u) << model;
    EXPECT_THAT(at, ElementsAre(10, 20, 30)) << model;
    EXPECT_EQ(machine.driver.statistics().unhandled_interrupts, 0u) << model;
  }
}

TEST(AmdInterrupts, WithPerfMonV2AllIsStoppedByOneRegister) {
  AmdMachine machine("genoa");
  perf::Event& event = machine.opened(instructions(3));
  perf::Event& other = machine.opened(instructions(1000), &event);
  ASSERT_TRUE(machine.schedule(event));
  machine.instruction();
  machine.instruction();
  machine.hardware.uses.clear();
  machine.instruction();
  machine.idle();
  EXPECT_THAT(
      machine.hardware.uses,
      ElementsAre(RegisterUse{'W', global_ctl, 0}, RegisterUse{'R', global_status, 0}, RegisterUse{'P', 0, 0},
                  RegisterUse{'W', first_count, 0xFFFF'FFFF'FFFD}, RegisterUse{'P', 1, 0},
                  RegisterUse{'W', global_clear, ~u64{0}}, RegisterUse{'W', global_ctl, 0x3F}));
  EXPECT_EQ(event.count, 3u);
  EXPECT_EQ(other.hw.period_left, 997);
}

TEST(AmdInterrupts, BranchRecordsAreReadBeforeTheCounters) {
  AmdMachine machine("genoa");
  perf::Attr attr = hardware(HardwareId::branch_instructions, 2);
  attr.sample_type = perf::sample::BRANCH_STACK;
  attr.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  ASSERT_TRUE(machine.schedule(machine.opened(attr)));
  machine.branch(0x1000, 0x2000);
  machine.hardware.uses.clear();
  machine.branch(0x2000, 0x1000);
  machine.idle();
  std::vector<RegisterUse> expected{{'W', global_ctl, 0}, {'R', global_status, 0}};
  for (u32 i = 0; i < 32; ++i) expected.push_back({'R', 0xC0010300 + i, 0});
  expected.insert(expected.end(), {{'P', 0, 0},
                                   {'W', first_count, 0xFFFF'FFFF'FFFE},
                                   {'W', global_clear, ~u64{0}},
                                   {'W', global_ctl, 0x3F}});
  EXPECT_THAT(machine.hardware.uses, ElementsAreArray(expected));
}

TEST(AmdInterrupts, WithoutItEachCounterIsLookedAtAsItRuns) {
  AmdMachine machine("rome");
  perf::Event& event = machine.opened(instructions(3));
  ASSERT_TRUE(machine.schedule(event));
  machine.instruction();
  machine.instruction();
  machine.hardware.uses.clear();
  machine.instruction();
  machine.idle();
  EXPECT_THAT(machine.hardware.uses, ElementsAre(RegisterUse{'W', lvtpc, 0x400}, RegisterUse{'P', 0, 0},
                                                 RegisterUse{'W', first_count, 0xFFFF'FFFF'FFFD}));
}

TEST(AmdInterrupts, InterruptsComeAgainWithoutAWriteOfLvtpc) {
  AmdMachine machine("genoa");
  unsigned samples = 0;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData&, const InterruptFrame&) { ++samples; };
  ASSERT_TRUE(machine.schedule(machine.opened(instructions(5))));
  machine.hardware.uses.clear();
  for (int i = 0; i < 50; ++i) machine.instruction();
  machine.idle();
  EXPECT_EQ(samples, 10u);
  for (const RegisterUse& use : machine.hardware.uses) EXPECT_NE(use.address, lvtpc);
}

/// A counter is stopped between its overflow and the delivery: the NMI finds nothing.
void let_one_come_late(AmdMachine& machine) {
  perf::Event& event = machine.opened(instructions(5));
  ASSERT_TRUE(machine.schedule(event));
  for (int i = 0; i < 5; ++i) machine.instruction();
  machine.unschedule(event);
  machine.idle(100);
}

TEST(AmdInterrupts, OneThatComesLateIsForgivenFor100Milliseconds) {
  for (const char* const model : {"rome", "genoa"}) {
    AmdMachine machine(model, /*skid_cycles=*/20);
    let_one_come_late(machine);
    EXPECT_EQ(machine.driver.statistics().interrupts, 1u) << model;
    EXPECT_EQ(machine.driver.statistics().unhandled_interrupts, 1u) << model << ": nothing came before";

    perf::Event& event = machine.opened(instructions(5));
    ASSERT_TRUE(machine.schedule(event));
    for (int i = 0; i < 40; ++i) machine.instruction();
    machine.unschedule(event);
    machine.idle(100);
    const u64 before = machine.driver.statistics().unhandled_interrupts;

    machine.sink.now_ns += 100'000'000;
    let_one_come_late(machine);
    EXPECT_EQ(machine.driver.statistics().unhandled_interrupts, before) << model;
    machine.sink.now_ns += 1'000'000;
    let_one_come_late(machine);
    EXPECT_EQ(machine.driver.statistics().unhandled_interrupts, before + 1) << model;
  }
}

TEST(AmdInterrupts, StoppingWaitsForAnOverflowThatNobodyHandled) {
  AmdMachine machine("rome", /*skid_cycles=*/20);
  perf::Event& event = machine.opened(instructions(5));
  ASSERT_TRUE(machine.schedule(event));
  for (int i = 0; i < 4; ++i) machine.instruction();
  const auto looks = [&] {
    machine.hardware.uses.clear();
    machine.driver.disable();
    machine.driver.enable();
    return std::ranges::count(machine.hardware.uses, RegisterUse{'R', first_count, 0});
  };
  EXPECT_EQ(looks(), 1);  // none has overflowed
  machine.instruction();
  EXPECT_EQ(looks(), 50);
}

TEST(AmdInterrupts, AnNmiThatFindsNoStatusLeavesThePmuAsItWas) {
  AmdMachine machine("genoa");
  ASSERT_TRUE(machine.schedule(machine.opened(instructions(1000))));
  machine.hardware.uses.clear();
  machine.driver.handle_pmi({});
  EXPECT_THAT(machine.hardware.uses,
              ElementsAre(RegisterUse{'W', global_ctl, 0}, RegisterUse{'R', global_status, 0},
                          RegisterUse{'W', global_ctl, 0x3F}));
}

TEST(AmdInterrupts, WhatFirmwareLeftIsClearedAtStart) {
  WatchedPmu pmu(*find_cpu_model("genoa"));
  const amd::Driver driver(pmu);
  std::vector<RegisterUse> expected;
  for (u32 i = 0; i < 32; ++i) expected.push_back({'W', 0xC0010300 + i, 0});
  expected.insert(expected.end(), {{'W', 0xC000010E, 0},
                                   {'W', global_ctl, 0},
                                   {'W', global_clear, 0x0400'0000'0000'003F},
                                   {'W', lvtpc, 0x400}});
  EXPECT_THAT(pmu.uses, ElementsAreArray(expected));
}

}  // namespace
}  // namespace pmusim::driver::amd_test::amd_interrupt_test
