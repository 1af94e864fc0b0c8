// SPDX-License-Identifier: MIT
// What sampling costs the program that is sampled, where a policy says that handling a PMI takes time.
#include <gtest/gtest.h>

#include "command.h"
#include "pmusim/session/session.h"

namespace pmusim::test {
namespace {

constexpr u64 period = 1000;

struct CountsWithCost {
  u64 cycles = 0, user_cycles = 0, branches = 0;
};

perf::Attr counting(perf::HardwareId what) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::hardware);
  attr.config = static_cast<u64>(what);
  return attr;
}

// Of a program whose branches are sampled.
CountsWithCost counted(u32 pmi_cost_cycles) {
  SessionOptions options{.model = find_cpu_model("skylake").value()};
  options.model.policies.pmi_cost_cycles = pmi_cost_cycles;
  auto session = Session::open(recorded("mispredict", {"4096", "2"}), options).value();
  const perf::Attr cycles = counting(perf::HardwareId::cpu_cycles);
  perf::Attr user_cycles = cycles;
  user_cycles.exclude_kernel = 1;
  perf::Attr branches = counting(perf::HardwareId::branch_instructions);
  branches.sample_period = period;
  branches.sample_type = perf::sample::IP;
  perf::Event& all = *session.open_event(cycles).value();
  perf::Event& user = *session.open_event(user_cycles).value();
  perf::Event& sampled = *session.open_event(branches).value();
  EXPECT_TRUE(session.run().ok());
  const auto count = [&](perf::Event& event) { return session.perf().read(event)->front(); };
  return {count(all), count(user), count(sampled)};
}

TEST(InterruptCost, IsNothingUnlessThePolicySaysSo) {
  const CountsWithCost free = counted(0);
  EXPECT_EQ(free.cycles, free.user_cycles);
}

TEST(InterruptCost, IsInTheCyclesOfRing0AndNotInThoseOfTheProgram) {
  constexpr u32 cost = 3000;
  const CountsWithCost free = counted(0), costly = counted(cost);
  EXPECT_EQ(costly.branches, free.branches);
  EXPECT_EQ(costly.user_cycles, free.user_cycles);
  EXPECT_EQ(costly.cycles - costly.user_cycles, free.branches / period * cost);
}

u64 kernel_instructions(u32 cost_instructions) {
  SessionOptions options{.model = find_cpu_model("skylake").value()};
  options.model.policies.pmi_cost_cycles = 1000;
  options.model.policies.pmi_cost_instructions = cost_instructions;
  auto session = Session::open(recorded("mispredict", {"4096", "2"}), options).value();
  perf::Attr kernel = counting(perf::HardwareId::instructions);
  kernel.exclude_user = 1;
  perf::Attr sampled = counting(perf::HardwareId::branch_instructions);
  sampled.sample_period = period;
  sampled.sample_type = perf::sample::IP;
  perf::Event& counted_there = *session.open_event(kernel).value();
  perf::Event& branches = *session.open_event(sampled).value();
  EXPECT_TRUE(session.run().ok());
  const u64 interrupts = session.perf().read(branches)->front() / period;
  EXPECT_GT(interrupts, 10u);
  return session.perf().read(counted_there)->front() / interrupts;
}

TEST(InterruptCost, IsInInstructionsOfRing0) {
  EXPECT_EQ(kernel_instructions(0), 0u);
  EXPECT_EQ(kernel_instructions(700), 700u);
}

// Of a program whose retired branches are sampled precisely.
u64 cycles_with_assists(u32 assist_cycles) {
  SessionOptions options{.model = find_cpu_model("skylake").value()};
  options.model.policies.pebs_assist_cycles = assist_cycles;
  auto session = Session::open(recorded("mispredict", {"4096", "2"}), options).value();
  perf::Attr sampled = counting(perf::HardwareId::branch_instructions);
  sampled.sample_period = period;
  sampled.sample_type = perf::sample::IP;
  sampled.precise_ip = 2;
  perf::Event& cycles = *session.open_event(counting(perf::HardwareId::cpu_cycles)).value();
  session.open_event(sampled).value();
  EXPECT_TRUE(session.run().ok());
  return session.perf().read(cycles)->front();
}

TEST(PebsAssistCost, IsInTheCyclesOfTheProgramForEachRecord) {
  const u64 free = cycles_with_assists(0), short_ones = cycles_with_assists(500),
            long_ones = cycles_with_assists(1000);
  EXPECT_GT(short_ones, free);
  EXPECT_EQ((short_ones - free) % 500, 0u);
  EXPECT_EQ(long_ones - free, 2 * (short_ones - free));
}

}  // namespace
}  // namespace pmusim::test
