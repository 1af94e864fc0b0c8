// SPDX-License-Identifier: MIT
#include "core/execution_ports.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace pmusim {
namespace {

/// With what they tell.
class Ports : public ExecutionPorts {
 public:
  explicit Ports(unsigned scheduler_uops) : ExecutionPorts(core(scheduler_uops)) {}
  u64 admit(u64 cycle) { return ExecutionPorts::admit(cycle, loads_, quantities_); }
  void enter(u64 cycle) { ExecutionPorts::enter(cycle, quantities_); }
  LoadsUnderWay& loads() { return loads_; }
  u32 quantity(Quantity which) const { return quantities_[static_cast<unsigned>(which)]; }

 private:
  static CoreParameters core(unsigned scheduler_uops) {
    CoreParameters p;
    p.scheduler_uops = scheduler_uops;
    return p;
  }
  LoadsUnderWay loads_;
  Quantities quantities_{};
};

TEST(ExecutionPorts, AUopStartsWhenAPortIsFree) {
  Ports ports(97);
  EXPECT_EQ(ports.place(0b11, 5), 5u);
  EXPECT_EQ(ports.place(0b11, 5), 5u);
  EXPECT_EQ(ports.place(0b11, 5), 6u);
  EXPECT_EQ(ports.place(0b100, 5), 5u);
}

TEST(ExecutionPorts, AYoungerUopTakesACycleBeforeAnOlderWaitingOne) {
  Ports ports(97);
  EXPECT_EQ(ports.place(0b1, 100), 100u);
  EXPECT_EQ(ports.place(0b1, 3), 3u);
}

TEST(ExecutionPorts, CountUopsByPort) {
  Ports ports(97);
  for (int n = 0; n < 3; ++n) ports.place(0b1, 5);
  ports.place(0b100, 5);
  EXPECT_EQ(ports.quantity(Quantity::uops_executed), 0u) << "reported when cycles are over";
  ports.admit(64);
  EXPECT_EQ(ports.quantity(Quantity::uops_executed), 4u);
  EXPECT_EQ(ports.quantity(Quantity::uops_port_0), 3u);
  EXPECT_EQ(ports.quantity(Quantity::uops_port_2), 1u);
}

TEST(ExecutionPorts, CountTheCyclesInWhichSoManyUopsStart) {
  Ports ports(97);
  for (const PortMask port : {0b1, 0b10, 0b100, 0b1000, 0b10000}) ports.place(port, 3);
  for (const PortMask port : {0b1, 0b10}) ports.place(port, 10);
  ports.place(0b1, 20);
  ports.admit(128 + 5 * ExecutionPorts::window_cycles);
  EXPECT_EQ(ports.quantity(Quantity::cycles_executing_more), 1u);
  EXPECT_EQ(ports.quantity(Quantity::cycles_executing_three), 0u);
  EXPECT_EQ(ports.quantity(Quantity::cycles_executing_two), 1u);
  EXPECT_EQ(ports.quantity(Quantity::cycles_executing_one), 1u);
  EXPECT_EQ(ports.quantity(Quantity::cycles_executing_none), 128 + 5 * ExecutionPorts::window_cycles - 3);
}

// CYCLE_ACTIVITY.CYCLES_* and STALLS_*: the second is the first in cycles in which nothing is executed.
TEST(ExecutionPorts, CountTheCyclesWaitingForLoads) {
  Ports ports(97);
  ports.loads().mark(load_missed_nothing, {10, 30});
  ports.loads().mark(load_missed_nothing, {20, 40});
  ports.loads().mark(load_missed_l1d, {20, 40});
  for (const u64 cycle : {5, 15, 25, 26, 50}) ports.place(0b1, cycle);
  ports.admit(64);
  EXPECT_EQ(ports.quantity(Quantity::cycles_loads), 30u);
  EXPECT_EQ(ports.quantity(Quantity::cycles_stalled_loads), 27u);
  EXPECT_EQ(ports.quantity(Quantity::cycles_l1d_misses), 20u);
  EXPECT_EQ(ports.quantity(Quantity::cycles_stalled_l1d_misses), 18u);
  EXPECT_EQ(ports.quantity(Quantity::cycles_l2_misses), 0u);
}

// RS_EVENTS.EMPTY_CYCLES, RS_EVENTS.EMPTY_END and EXE_ACTIVITY.EXE_BOUND_0_PORTS.
TEST(ExecutionPorts, CountTheCyclesInWhichTheSchedulerIsEmpty) {
  Ports ports(97);
  ports.admit(1), ports.enter(1);
  ports.place(0b1, 10);
  ports.admit(18), ports.enter(20);  // nothing waits from 11 to 19
  ports.place(0b1, 25);
  ports.admit(25), ports.enter(26);
  ports.place(0b1, 100);
  ports.admit(192);  // nor from 101 to 191
  EXPECT_EQ(ports.quantity(Quantity::scheduler_empty_cycles), 9u + 91);
  EXPECT_EQ(ports.quantity(Quantity::scheduler_empty_periods), 1u);
  EXPECT_EQ(ports.quantity(Quantity::cycles_executing_none), 192u - 3);
  EXPECT_EQ(ports.quantity(Quantity::cycles_executing_none_of_some), 192u - 3 - 9 - 91);
  ports.enter(192);
  EXPECT_EQ(ports.quantity(Quantity::scheduler_empty_periods), 2u);
}

TEST(ExecutionPorts, CountLoadsThatAreUnderWayForLongerThanTheySee) {
  Ports ports(97);
  constexpr u64 far = 10 * ExecutionPorts::window_cycles;
  ports.loads().mark(load_missed_l2, {100, far});
  ports.admit(2 * far);
  EXPECT_EQ(ports.quantity(Quantity::cycles_l2_misses), far - 100);
  EXPECT_EQ(ports.quantity(Quantity::cycles_stalled_l2_misses), far - 100);
  EXPECT_EQ(ports.quantity(Quantity::cycles_executing_none), 2 * far);
}

TEST(ExecutionPorts, TheDividerIsHeldForAllOfItsCycles) {
  Ports ports(97);
  EXPECT_EQ(ports.hold(divider_port, 4, 10), 10u);
  EXPECT_EQ(ports.hold(divider_port, 4, 10), 14u);
  EXPECT_EQ(ports.hold(sequencer_port, 140, 10), 10u);
  EXPECT_EQ(ports.hold(divider_port, 4, 30), 30u);
}

TEST(ExecutionPorts, AFullSchedulerHoldsDispatchUntilAUopStarts) {
  Ports ports(2);
  EXPECT_EQ(ports.admit(1), 1u);
  ports.place(0b1, 50);
  EXPECT_EQ(ports.admit(1), 1u);
  ports.place(0b1, 60);
  EXPECT_EQ(ports.admit(1), 50u);
  EXPECT_EQ(ports.admit(55), 55u);
}

// The same by looking at every cycle.
TEST(ExecutionPorts, UopsStartWhereANaiveSearchPutsThem) {
  Ports ports(1'000'000);
  std::map<u64, PortMask> busy;
  std::mt19937_64 random(1);
  u64 dispatch = 1;
  for (int n = 0; n < 2000; ++n) {
    dispatch = ports.admit(dispatch + random() % 3);
    const PortMask mask = static_cast<PortMask>(1 + random() % 15);
    const u64 ready = dispatch + random() % (random() % 8 == 0 ? 700 : 8);
    u64 expected = ready;
    while ((mask & ~busy[expected]) == 0) ++expected;
    const u64 start = ports.place(mask, ready);
    ASSERT_EQ(start, expected) << "uop " << n;
    // Which of them took it shows when the free ones run out; narrow masks say it at once.
    if ((mask & (mask - 1)) == 0) {
      busy[start] |= mask;
    } else {
      const PortMask free = mask & ~busy[start];
      for (unsigned port = 0; port < 4; ++port) {
        Ports probe = ports;
        if ((free >> port & 1) != 0 && probe.place(PortMask{1} << port, start) != start) {
          busy[start] |= PortMask{1} << port;
          break;
        }
      }
    }
  }
}

}  // namespace
}  // namespace pmusim
