// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pmusim/driver/drivers.h"

namespace pmusim::driver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(DriverWarnings, AreNoneOfWhatADriverMayMeet) {
  EXPECT_THAT(warnings({.interrupts = 7, .merged_overflows = 2}), IsEmpty());
}

TEST(DriverWarnings, AreASentenceForEachThingThatMustNotHappen) {
  const DriverStatistics statistics{.interrupts = 7,
                                    .unhandled_interrupts = 3,
                                    .stuck_interrupts = 1,
                                    .faults = {.count = 1, .first = {BusAccess::rdmsr, 0x38E}}};
  EXPECT_THAT(warnings(statistics),
              ElementsAre("1 of the driver's accesses to the PMU faulted, first RDMSR of 0x38e: counts and "
                          "samples may be wrong",
                          "the PMU was reset 1 times because its status would not clear",
                          "3 of 7 interrupts found nothing to handle: a kernel logs unknown NMIs"));
}

TEST(DriverStatistics, OfSeveralDriversAddUpAndKeepTheFirstFault) {
  const DriverStatistics clean{.interrupts = 1, .merged_overflows = 10},
      faulty{.interrupts = 2,
             .unhandled_interrupts = 20,
             .merged_overflows = 3,
             .faults = {.count = 2, .first = {BusAccess::wrmsr, 0x600}}},
      worse{.unhandled_interrupts = 4,
            .stuck_interrupts = 1,
            .faults = {.count = 3, .first = {BusAccess::rdpmc, 1}}};
  DriverStatistics all;
  for (const DriverStatistics& one : {clean, faulty, worse}) all += one;
  EXPECT_EQ(all.interrupts, 3u);
  EXPECT_EQ(all.unhandled_interrupts, 24u);
  EXPECT_EQ(all.stuck_interrupts, 1u);
  EXPECT_EQ(all.merged_overflows, 13u);
  EXPECT_EQ(all.faults.count, 5u);
  EXPECT_EQ(all.faults.first.address, 0x600u);
}

}  // namespace
}  // namespace pmusim::driver
