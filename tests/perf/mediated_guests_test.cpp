// SPDX-License-Identifier: MIT
// Guests that have a PMU for themselves (Linux 7.0: perf_load_guest_context, perf_create_mediated_pmu), and
// the events of their hypervisor.
#include <gmock/gmock.h>

#include "tests/perf/core_fixture.h"

namespace pmusim::perf::mediated_guests_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MediatedGuests : public CoreTest {
 protected:
  MediatedGuests() { driver.capable.mediated_guests = true; }
  static Attr of_host() {
    Attr attr = counting();
    attr.exclude_guest = 1;
    attr.read_format = read_format::TOTAL_TIME_ENABLED | read_format::TOTAL_TIME_RUNNING;
    return attr;
  }
  void pass(u64 ns) { cpu.advance(now += ns, frame); }
  int error_of(const Attr& attr) {
    const auto event = core.open(attr, 100, -1);
    if (!event.ok()) return event.error().error_number;
    core.close(**event);
    return 0;
  }
  u64 now = 0;
};

TEST_F(MediatedGuests, TakeTimeThatNobodyHasEnabled) {
  Event &of_task = open(of_host()), &of_cpu = open(of_host(), nullptr, -1, 0);
  pass(1000);
  count(5);
  cpu.load_guest();
  EXPECT_THAT(driver.on(), IsEmpty());
  pass(300);
  EXPECT_THAT(core.read(of_task).value(), ElementsAre(5, 1000, 1000)) << "read by another CPU meanwhile";
  cpu.put_guest();
  EXPECT_EQ(driver.on().size(), 2u);
  pass(20);
  count(1);
  for (Event* event : {&of_task, &of_cpu}) EXPECT_THAT(core.read(*event).value(), ElementsAre(6, 1020, 1020));
}

TEST_F(MediatedGuests, LeaveSoftwareEventsWhereTheyAre) {
  Attr clock = software(SoftwareId::task_clock);
  Event& alone = open(clock);
  cpu.load_guest();
  pass(100);
  EXPECT_EQ(alone.state, EventState::active);
  cpu.put_guest();
  EXPECT_EQ(value(alone), 100u);
}

TEST_F(MediatedGuests, KeepNewEventsOffToo) {
  cpu.load_guest();
  Event &opened = open(of_host()), &pinned = open([] {
    Attr attr = of_host();
    attr.pinned = 1;
    return attr;
  }());
  pass(2'000'000);  // ticks, and with them rotation
  EXPECT_THAT(driver.on(), IsEmpty());
  cpu.put_guest();
  EXPECT_THAT(driver.on(), ElementsAre(&pinned, &opened));
}

TEST_F(MediatedGuests, LeaveRotationToGoOn) {
  std::vector<Event*> events;
  for (unsigned n = 0; n < 5; ++n) events.push_back(&open(of_host()));  // on four counters
  cpu.load_guest();
  cpu.put_guest();
  EXPECT_EQ(driver.on().size(), 4u);
  for (unsigned n = 0; n < 5; ++n) pass(1'000'000);
  for (Event* event : events) EXPECT_EQ(core.read(*event).value().at(2), 4'000'000u);
}

TEST_F(MediatedGuests, AndEventsThatCountInGuestsExcludeEachOther) {
  Event& in_the_way = open(counting());
  EXPECT_EQ(core.add_mediated_guest().error().error_number, EBUSY);
  core.close(in_the_way);
  open(software(SoftwareId::context_switches));
  EXPECT_TRUE(core.add_mediated_guest().ok());
  EXPECT_TRUE(core.add_mediated_guest().ok());
  core.remove_mediated_guest();
  EXPECT_EQ(error_of(counting()), EOPNOTSUPP);
  EXPECT_EQ(error_of(of_host()), 0);
  EXPECT_EQ(error_of(software(SoftwareId::page_faults)), 0);
  core.remove_mediated_guest();
  EXPECT_EQ(error_of(counting()), 0);
}

TEST_F(MediatedGuests, NeedAPmuThatLetsThem) {
  driver.capable.mediated_guests = false;
  EXPECT_EQ(core.add_mediated_guest().error().error_number, EOPNOTSUPP);
}

class MediatedGuestsOf6_19 : public CoreTest {
 protected:
  MediatedGuestsOf6_19() : CoreTest({.limits = {.kernel = Kernel::v6_19}}) {
    driver.capable.mediated_guests = true;
  }
};

TEST_F(MediatedGuestsOf6_19, AreNotThereYet) {
  EXPECT_EQ(core.add_mediated_guest().error().error_number, EOPNOTSUPP);
}

class KernelEvents : public CoreTest {
 protected:
  KernelEvents() : CoreTest({.limits = {.paranoid = 3, .perfmon_capable = false}}) {}
};

TEST_F(KernelEvents, NeedNoRightsAndTellNobody) {
  EXPECT_FALSE(core.open(counting(), 100, -1).ok());
  unsigned told = 0;
  core.on_overflow([&](const Event&) { ++told; });
  Event& event = **core.open_in_kernel(sampling(10), 100, -1);
  count(25);
  EXPECT_EQ(value(event), 25u);
  EXPECT_EQ(told, 0u);
}

TEST_F(KernelEvents, FailAsAllocationDoes) {
  EXPECT_EQ(core.open_in_kernel(counting(), 555, -1).error().error_number, ESRCH);
  Attr bad = counting();
  bad.config = 0xbad;
  EXPECT_EQ(core.open_in_kernel(bad, 100, -1).error().error_number, EINVAL);
  EXPECT_EQ(driver.opened, 0);
}

}  // namespace
}  // namespace pmusim::perf::mediated_guests_test
