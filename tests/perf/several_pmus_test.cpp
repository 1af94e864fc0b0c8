// SPDX-License-Identifier: MIT
// Several hardware PMUs under one core: which event goes where, and that each has room of its own.
#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/perf/core_fixture.h"

namespace pmusim::perf {
namespace {

using testing::ElementsAre;

class SeveralPmus : public CoreTest {
 protected:
  static constexpr u32 type = 11;

  SeveralPmus() : CoreTest({}, 2) {
    other.capable.name = "ibs_op";
    core.register_pmu(type, other);
  }
  /// `other` goes before the core does.
  ~SeveralPmus() override {
    while (!core.events().empty()) core.close(*core.events().back());
  }
  static Attr of_other() {
    Attr attr = counting();
    attr.type = type;
    return attr;
  }
  int refusal_of(const Attr& attr, Event* leader) {
    const auto event = core.open(attr, 100, -1, leader);
    EXPECT_FALSE(event.ok());
    return event.ok() ? 0 : event.error().error_number;
  }

  FakeDriver other{1};
};

TEST_F(SeveralPmus, CountTheEventsOfTheirTypes) {
  Event& own = open(counting());
  Event& of_type = open(of_other());
  Attr generic = counting();
  generic.type = static_cast<u32>(EventType::hardware);
  generic.config = u64{type} << 32;
  EXPECT_THAT(driver.on(), ElementsAre(&own));
  EXPECT_THAT(other.on(), ElementsAre(&of_type));
  core.close(of_type);
  Event& extended = open(generic);
  EXPECT_THAT(other.on(), ElementsAre(&extended));
  generic.config = u64{12} << 32;  // no PMU's: that of the CPU takes it
  Event& of_nobody = open(generic);
  EXPECT_THAT(driver.on(), ElementsAre(&own, &of_nobody));
}

TEST_F(SeveralPmus, AreNamedByGenericEventsOnlyIfTheyTakeThem) {
  other.capable.extended_type = false;
  Attr generic = counting();
  generic.type = static_cast<u32>(EventType::hardware);
  generic.config = u64{type} << 32;
  EXPECT_EQ(refusal_of(generic, nullptr), ENOENT);
}

TEST_F(SeveralPmus, EndTheListsOfTheirOwnEventsAlone) {
  Event& first = open(of_other());
  Event& waits = open(of_other());  // of one counter
  Event& own = open(counting());
  EXPECT_EQ(first.state, EventState::active);
  EXPECT_EQ(waits.state, EventState::inactive);
  EXPECT_EQ(own.state, EventState::active);
  cpu.advance(5'000'000, frame);  // ticks: the two take turns
  EXPECT_EQ(own.time_running, own.time_enabled);
  EXPECT_GT(waits.time_running, 0u);
  EXPECT_LT(waits.time_running, waits.time_enabled);
}

TEST_F(SeveralPmus, AreNotMixedInAGroup) {
  Event& leader = open(counting());
  EXPECT_EQ(refusal_of(of_other(), &leader), EINVAL);
  Event& soft = open(software(SoftwareId::task_clock));
  open(of_other(), &soft);
  EXPECT_EQ(refusal_of(counting(), &soft), EINVAL);
  open(software(SoftwareId::page_faults), &leader);
}

TEST_F(SeveralPmus, AreExclusiveEachForItself) {
  Attr exclusive = of_other();
  exclusive.exclusive = 1;
  Event& alone = open(exclusive);
  Event& own = open(counting());
  EXPECT_EQ(alone.state, EventState::active);
  EXPECT_EQ(own.state, EventState::active);
}

TEST_F(SeveralPmus, StandStillWhileTheirOwnEventsChange) {  // Linux: ctx_resched(.pmu)
  open(counting());
  EXPECT_EQ(other.disabled_times, 0);
  open(of_other());
  const int before = other.disabled_times;
  EXPECT_GT(before, 0);
  open(counting());
  EXPECT_EQ(other.disabled_times, before);
  EXPECT_EQ(other.disabled, 0);
  core.task_started(200, 200, "second");
  cpu.switch_to(200);
  EXPECT_THAT(other.calls, testing::Contains("out 100"));
  EXPECT_THAT(other.calls, testing::Contains("in 200"));
}

TEST_F(SeveralPmus, HaveTypesOfTheirOwn) {
  FakeDriver third;
  EXPECT_THROW(core.register_pmu(type, third), std::invalid_argument);
  EXPECT_THROW(core.register_pmu(static_cast<u32>(EventType::raw), third), std::invalid_argument);
  core.register_pmu(12, third);
}

}  // namespace
}  // namespace pmusim::perf
