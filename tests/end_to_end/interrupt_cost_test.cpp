// SPDX-License-Identifier: MIT
// What sampling costs the program that is sampled, where a policy says that handling a PMI takes time.
#include <gtest/gtest.h>

#include "command.h"
#include "pmusim/session/session.h"

namespace pmusim::test {
namespace {

constexpr u64 period = 1000;

struct Counts {
  u64 cycles = 0, user_cycles = 0, branches = 0;
};

perf::Attr counting(perf::HardwareId what) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::hardware);
  attr.config = static_cast<u64>(what);
  return attr;
}

// Of a program whose branches are sampled.
Counts counted(u32 pmi_cost_cycles) {
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
  const Counts free = counted(0);
  EXPECT_EQ(free.cycles, free.user_cycles);
}

TEST(InterruptCost, IsInTheCyclesOfRing0AndNotInThoseOfTheProgram) {
  constexpr u32 cost = 3000;
  const Counts free = counted(0), costly = counted(cost);
  EXPECT_EQ(costly.branches, free.branches);
  EXPECT_EQ(costly.user_cycles, free.user_cycles);
  EXPECT_EQ(costly.cycles - costly.user_cycles, free.branches / period * cost);
}

}  // namespace
}  // namespace pmusim::test
