// SPDX-License-Identifier: MIT
// Floating-point operations under AMD's driver: an event of two counters (Linux: amd_is_pair_event_code,
// PERF_X86_EVENT_PAIR). Register values are literal.
#include <gmock/gmock.h>

#include <cerrno>

#include "amd_machine.h"
#include "pmusim/perf/core.h"
#include "tests/support/whole_kernel.h"

namespace pmusim::driver::amd_test::amd_pairs_test {
namespace {

using perf::HardwareId;
using testing::ElementsAre;

constexpr u64 all_flops = 0xFF03;
constexpr u64 merge = 0xF'0040'00FF;

void operations(AmdMachine& machine, u32 count) {
  Retirement r{.ip = 0x1000, .next_ip = 0x1004, .signals = {Signal::instruction}, .length = 4};
  r.quantities[static_cast<unsigned>(Quantity::flops_multiply_add)] = count;
  machine.retire(r);
}

perf::Attr flops(u64 period = 0) { return raw(all_flops, period); }

TEST(AmdPairs, AreProgrammedUpperHalfFirst) {
  AmdMachine machine("rome");
  perf::Event& event = machine.opened(flops(100003));
  machine.hardware.uses.clear();
  ASSERT_TRUE(machine.schedule(event));
  EXPECT_THAT(
      machine.hardware.uses,
      ElementsAre(RegisterUse{'W', 0xC0010201, 0xFFFF'FFFE'795D}, RegisterUse{'W', 0xC0010203, 0xFFFF},
                  RegisterUse{'W', 0xC0010202, merge}, RegisterUse{'W', 0xC0010200, 0x53FF03}));
  machine.hardware.uses.clear();
  machine.unschedule(event);
  std::vector<RegisterUse> writes;
  std::ranges::copy_if(machine.hardware.uses, std::back_inserter(writes),
                       [](const RegisterUse& use) { return use.access == 'W'; });
  EXPECT_THAT(writes, ElementsAre(RegisterUse{'W', 0xC0010200, 0x13FF03}, RegisterUse{'W', 0xC0010202, 0},
                                  RegisterUse{'W', 0xC0010200, 0x13FF03}, RegisterUse{'W', 0xC0010202, 0}));
}

TEST(AmdPairs, CountAndSampleWhatOneCounterCannot) {
  for (const char* model : {"rome", "milan", "genoa", "turin"}) {
    SCOPED_TRACE(model);
    AmdMachine machine(model);
    const u64 all = machine.hardware.pmu.model().family == 0x1A         ? 0x0F03
                    : machine.hardware.pmu.model().has_global_control() ? 0x1F03
                                                                        : all_flops;
    perf::Event& event = machine.opened(raw(all, 100));
    unsigned samples = 0;
    machine.sink.tell = [&](perf::Event&, const perf::SampleData&, const InterruptFrame&) { ++samples; };
    ASSERT_TRUE(machine.schedule(event));
    for (unsigned n = 0; n < 10; ++n) operations(machine, 32);
    machine.idle();
    machine.driver.read(event);
    EXPECT_EQ(event.count, 320u);
    EXPECT_EQ(samples, 3u);
    machine.unschedule(event);
    EXPECT_EQ(event.count, 320u);
    EXPECT_EQ(machine.driver.statistics().faults.count, 0u);
  }
}

/// How far a group opens that has so many of each.
int group_of(unsigned pairs, unsigned cycles) {
  AmdMachine machine("genoa");
  perf::Event* leader = nullptr;
  for (unsigned n = 0; n < pairs + cycles; ++n) {
    const perf::Attr attr = n < pairs ? flops() : hardware(HardwareId::cpu_cycles);
    if (leader == nullptr)
      leader = &machine.opened(attr);
    else if (const int error = machine.error_of(attr, leader); error != 0)
      return error;
  }
  return machine.schedule(*leader) ? 0 : -1;
}

TEST(AmdPairs, LeaveFewerCountersToAGroup) {
  EXPECT_EQ(group_of(3, 0), 0);
  EXPECT_EQ(group_of(3, 1), EINVAL);
  EXPECT_EQ(group_of(2, 2), 0);
  EXPECT_EQ(group_of(2, 3), EINVAL);
  EXPECT_EQ(group_of(1, 4), 0);
  EXPECT_EQ(group_of(4, 0), EINVAL);
}

TEST(AmdPairs, StandOnCountersZeroTwoAndFour) {
  AmdMachine machine("milan");
  perf::Event& cycles = machine.opened(hardware(HardwareId::cpu_cycles));
  ASSERT_TRUE(machine.schedule(cycles));
  for (unsigned n = 0; n < 2; ++n) ASSERT_TRUE(machine.schedule(machine.opened(flops())));
  EXPECT_FALSE(machine.schedule(machine.opened(flops())));
  machine.unschedule(cycles);
  EXPECT_TRUE(machine.schedule(machine.opened(flops())));
  for (const u32 n : {0u, 2u, 4u}) {
    EXPECT_EQ(machine.msr(0xC0010200 + 2 * n), 0x53FF03u) << n;
    EXPECT_EQ(machine.msr(0xC0010202 + 2 * n), merge) << n;
  }
}

TEST(AmdPairs, TakeTurnsWithAFourthEvent) {
  KernelWith<amd::Driver> kernel(model_with_skid("genoa", 0));
  kernel.start_program();
  std::vector<perf::Event*> events;
  for (unsigned n = 0; n < 3; ++n) events.push_back(kernel.core.open(flops(), 0, -1, nullptr).value());
  events.push_back(kernel.core.open(hardware(HardwareId::instructions), 0, -1, nullptr).value());
  u64 cycle = 0, now = 0;
  for (unsigned tick = 0; tick < 12; ++tick) {
    for (unsigned n = 0; n < 50; ++n)
      kernel.pmu.retire(
          {.ip = 0x1000, .next_ip = 0x1004, .cycle = ++cycle, .signals = {Signal::instruction}, .length = 4});
    kernel.cpu.advance(now += 1'000'000, {});
  }
  for (perf::Event* event : events) {
    EXPECT_GT(event->time_running, 0u);
    EXPECT_LT(event->time_running, event->time_enabled);
  }
  EXPECT_GT(events.back()->count, 0u);
}

}  // namespace
}  // namespace pmusim::driver::amd_test::amd_pairs_test
