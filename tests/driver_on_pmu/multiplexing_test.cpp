// SPDX-License-Identifier: MIT
// More events than counters: the perf core rotates, the driver schedules, and scaled counts come close.
#include <gtest/gtest.h>

#include "machine.h"
#include "pmusim/perf/core.h"

namespace pmusim::driver {
namespace {

using perf::HardwareId;

/// A program of one task on a machine with a perf core: a uniform stream of branches, some mispredicted.
class Program {
 public:
  explicit Program(std::string_view model)
      : machine(model_with_skid(model, 0)), perf(perf::PerfCore::create(machine.driver)) {
    core.task_started(1, 1, "program");
    core.cpu(0).switch_to(1);
  }

  perf::Event& open(const perf::Attr& attr, perf::Event* leader = nullptr) {
    auto event = core.open(attr, 0, -1, leader);
    EXPECT_TRUE(event.ok()) << event.error().message;
    return **event;
  }

  void run(unsigned ticks) {
    constexpr u64 tick_ns = 1'000'000;
    constexpr unsigned instructions_per_tick = 1000;
    for (unsigned t = 0; t < ticks; ++t) {
      for (unsigned i = 0; i < instructions_per_tick; ++i) instruction();
      core.cpu(0).advance(now_ += tick_ns, {});
    }
  }

  /// count * enabled / running.
  u64 scaled(perf::Event& event) {
    const auto words = core.read(event);
    EXPECT_TRUE(words.ok());
    const u64 count = (*words)[0], enabled = (*words)[1], running = (*words)[2];
    EXPECT_GT(running, 0u);
    return static_cast<u64>(static_cast<double>(count) * static_cast<double>(enabled) /
                            static_cast<double>(running));
  }

  u64 instructions = 0, branches = 0, misses = 0;
  Machine machine;
  std::unique_ptr<perf::PerfCore> perf;
  perf::PerfCore& core = *perf;

 private:
  void instruction() {
    SignalSet signals{Signal::instruction};
    if (++instructions % 4 == 0) signals.add(Signal::branch), ++branches;
    if (instructions % 20 == 0) signals.add(Signal::mispredicted), ++misses;
    machine.instruction(signals);
  }
  u64 now_ = 0;
};

perf::Attr counted(HardwareId id) {
  perf::Attr attr = hardware(id);
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  return attr;
}

TEST(Multiplexing, ScaledCountsAreWithinTwoPercentOfExact) {
  Program program("skylake");  // four general counters
  std::vector<perf::Event*> branches, misses;
  for (int i = 0; i < 5; ++i) branches.push_back(&program.open(counted(HardwareId::branch_instructions)));
  for (int i = 0; i < 4; ++i) misses.push_back(&program.open(counted(HardwareId::branch_misses)));
  program.run(900);
  const auto near = [](u64 value, u64 exact) {
    EXPECT_NEAR(static_cast<double>(value), static_cast<double>(exact), 0.02 * static_cast<double>(exact));
  };
  for (perf::Event* event : branches) near(program.scaled(*event), program.branches);
  for (perf::Event* event : misses) near(program.scaled(*event), program.misses);
}

TEST(Multiplexing, EventsThatFitAreExactAndAlwaysRunning) {
  Program program("skylake");
  perf::Event& instructions = program.open(counted(HardwareId::instructions));
  perf::Event& branches = program.open(counted(HardwareId::branch_instructions));
  program.run(10);
  EXPECT_EQ(program.scaled(instructions), program.instructions);
  EXPECT_EQ(program.scaled(branches), program.branches);
}

TEST(Multiplexing, AGroupIsCountedTogether) {
  Program program("skylake");
  perf::Event& leader = program.open(counted(HardwareId::branch_instructions));
  perf::Event& sibling = program.open(counted(HardwareId::branch_misses), &leader);
  for (int i = 0; i < 4; ++i) program.open(counted(HardwareId::branch_instructions));
  program.run(200);
  program.core.disable(leader);
  EXPECT_GT(leader.time_enabled, leader.time_running);
  EXPECT_EQ(leader.time_running, sibling.time_running);
  EXPECT_EQ(leader.count, 5 * sibling.count);
}

TEST(Multiplexing, APinnedEventKeepsItsCounter) {
  Program program("skylake");
  perf::Attr attr = counted(HardwareId::branch_instructions);
  attr.pinned = 1;
  perf::Event& pinned = program.open(attr);
  for (int i = 0; i < 6; ++i) program.open(counted(HardwareId::branch_instructions));
  program.run(100);
  EXPECT_EQ(program.scaled(pinned), program.branches);
}

TEST(Multiplexing, SamplingEventsKeepTheirPartialPeriods) {
  Program program("skylake");
  perf::Attr attr = hardware(HardwareId::branch_instructions, 1000);
  perf::Event& sampling = program.open(attr);
  for (int i = 0; i < 4; ++i) program.open(counted(HardwareId::branch_instructions));
  program.run(500);
  program.core.disable(sampling);
  EXPECT_EQ((1000 - static_cast<u64>(sampling.hw.period_left)) % 1000, sampling.count % 1000);
}

}  // namespace
}  // namespace pmusim::driver
