// SPDX-License-Identifier: MIT
#include "core/execution_ports.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace pmusim {
namespace {

TEST(ExecutionPorts, AUopStartsWhenAPortIsFree) {
  ExecutionPorts ports(97);
  EXPECT_EQ(ports.place(0b11, 5), 5u);
  EXPECT_EQ(ports.place(0b11, 5), 5u);
  EXPECT_EQ(ports.place(0b11, 5), 6u);
  EXPECT_EQ(ports.place(0b100, 5), 5u);
}

TEST(ExecutionPorts, AYoungerUopTakesACycleBeforeAnOlderOneThatWaits) {
  ExecutionPorts ports(97);
  EXPECT_EQ(ports.place(0b1, 100), 100u);
  EXPECT_EQ(ports.place(0b1, 3), 3u);
}

TEST(ExecutionPorts, TheDividerIsHeldForAllOfItsCycles) {
  ExecutionPorts ports(97);
  EXPECT_EQ(ports.hold(divider_port, 4, 10), 10u);
  EXPECT_EQ(ports.hold(divider_port, 4, 10), 14u);
  EXPECT_EQ(ports.hold(sequencer_port, 140, 10), 10u);
  EXPECT_EQ(ports.hold(divider_port, 4, 30), 30u);
}

TEST(ExecutionPorts, AFullSchedulerHoldsDispatchUntilAUopStarts) {
  ExecutionPorts ports(2);
  EXPECT_EQ(ports.admit(1), 1u);
  ports.place(0b1, 50);
  EXPECT_EQ(ports.admit(1), 1u);
  ports.place(0b1, 60);
  EXPECT_EQ(ports.admit(1), 50u);
  EXPECT_EQ(ports.admit(55), 55u);
}

// The same by looking at every cycle.
TEST(ExecutionPorts, UopsStartWhereANaiveSearchPutsThem) {
  ExecutionPorts ports(1'000'000);
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
        ExecutionPorts probe = ports;
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
