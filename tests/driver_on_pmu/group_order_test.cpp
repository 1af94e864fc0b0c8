// SPDX-License-Identifier: MIT
// A group counts what happens while it is enabled, in whatever order its members are opened, enabled, read
// and disabled.
#include <gtest/gtest.h>

#include <random>

#include "machine.h"
#include "model_names.h"
#include "tests/support/whole_kernel.h"

namespace pmusim::driver {
namespace {

/// One event of a group and how often it occurs in a step of the program.
struct Member {
  perf::Attr attr;
  u64 per_step = 0;
  perf::Event* event = nullptr;
  bool enabled = false;
  u64 expected = 0;
};

perf::Attr raw(u64 config) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = config;
  return attr;
}

/// A program whose steps are all alike: two instructions, one of them a branch, over ten cycles whose slots
/// divide into fifths, which PERF_METRICS can say exactly.
class Steps {
 public:
  static constexpr u64 instructions = 2, cycles_of_instruction = 5,
                       cycles = instructions * cycles_of_instruction;

  explicit Steps(Pmu& pmu) : pmu_(pmu), width_(pmu.model().core.issue_width) {}

  u64 slots() const { return width_ * cycles; }
  u64 fifth() const { return slots() / 5; }

  void run() {
    retire({Signal::instruction});
    retire({Signal::instruction, Signal::branch});
  }

 private:
  void retire(SignalSet signals) {
    cycle_ += cycles_of_instruction;
    Retirement r{.ip = 0x1000, .next_ip = 0x1004, .cycle = cycle_, .signals = signals, .length = 4};
    const auto tell = [&](Quantity q, u32 value) { r.quantities[static_cast<unsigned>(q)] = value; };
    tell(Quantity::uops, width_);
    tell(Quantity::slots_bad_speculation, width_);
    tell(Quantity::slots_frontend, width_);
    tell(Quantity::slots_backend, 2 * width_);
    pmu_.retire(r);
  }

  Pmu& pmu_;
  u32 width_;
  u64 cycle_ = 0;
};

class GroupOrder : public testing::TestWithParam<std::string> {
 protected:
  void run_orders(const std::function<std::vector<Member>(const Steps&)>& make_group) {
    for (u32 seed = 0; seed < 40; ++seed) run_order(make_group, seed);
  }

 private:
  enum class Action : u8 { open, enable, disable, enable_group, disable_group, read, run, count_ };

  void run_order(const std::function<std::vector<Member>(const Steps&)>& make_group, u32 seed) {
    SCOPED_TRACE(seed);
    WholeKernel machine(model_with_skid(GetParam(), 0));
    perf::PerfCore& core = machine.core;
    machine.start_program();
    Steps steps(machine.pmu);
    std::vector<Member> group = make_group(steps);
    std::size_t opened = 0;
    std::mt19937 random(seed);
    const auto any_open = [&]() -> Member& { return group[random() % opened]; };
    open(core, group, opened, random);
    for (unsigned i = 0; i < 60; ++i) {
      switch (static_cast<Action>(random() % static_cast<unsigned>(Action::count_))) {
        case Action::open:
          if (opened < group.size()) open(core, group, opened, random);
          break;
        case Action::enable:
          set(core, any_open(), true);
          break;
        case Action::disable:
          set(core, any_open(), false);
          break;
        case Action::enable_group:
          core.enable(*group[0].event, perf::PerfCore::Scope::group);
          for (std::size_t m = 0; m < opened; ++m) group[m].enabled = true;
          break;
        case Action::disable_group:
          core.disable(*group[0].event, perf::PerfCore::Scope::group);
          for (std::size_t m = 0; m < opened; ++m) group[m].enabled = false;
          break;
        case Action::read:
          expect(core, any_open());
          break;
        default:
          steps.run();
          for (Member& member : group)
            member.expected += group[0].enabled && member.enabled ? member.per_step : 0;
          break;
      }
    }
    for (std::size_t m = 0; m < opened; ++m) expect(core, group[m]);
    EXPECT_EQ(describe(machine.driver.statistics().faults), "");
  }

  static void open(perf::PerfCore& core, std::vector<Member>& group, std::size_t& opened,
                   std::mt19937& random) {
    Member& member = group[opened];
    member.attr.disabled = random() % 2;
    const auto event = core.open(member.attr, 0, -1, opened == 0 ? nullptr : group[0].event);
    ASSERT_TRUE(event.ok()) << event.error().message;
    member.event = *event;
    member.enabled = !member.attr.disabled;
    ++opened;
  }
  static void set(perf::PerfCore& core, Member& member, bool enabled) {
    if (enabled)
      core.enable(*member.event);
    else
      core.disable(*member.event);
    member.enabled = enabled;
  }
  static void expect(perf::PerfCore& core, const Member& member) {
    const auto words = core.read(*member.event);
    ASSERT_TRUE(words.ok());
    EXPECT_EQ(words->at(0), member.expected) << std::hex << member.attr.config;
  }
};

TEST_P(GroupOrder, DoesNotChangeTheCountsOfInstructionsAndBranches) {
  run_orders([](const Steps&) {
    return std::vector<Member>{{hardware(perf::HardwareId::branch_instructions), 1},
                               {hardware(perf::HardwareId::instructions), Steps::instructions}};
  });
}

TEST_P(GroupOrder, DoesNotChangeTheCountsOfSlotsAndTheirMetrics) {
  if (find_cpu_model(GetParam())->metrics_levels == 0) GTEST_SKIP() << "has no PERF_METRICS";
  run_orders([](const Steps& steps) {
    return std::vector<Member>{
        {raw(0x0400), steps.slots()}, {raw(0x8000), steps.fifth()},
        {raw(0x8100), steps.fifth()}, {hardware(perf::HardwareId::cpu_cycles), Steps::cycles},
        {raw(0x8200), steps.fifth()}, {raw(0x8300), 2 * steps.fifth()}};
  });
}

INSTANTIATE_TEST_SUITE_P(Presets, GroupOrder, testing::ValuesIn(model_names()), identifier);

TEST(SlotsGroup, StartsItsLeaderAfreshWhenAMetricJoinsIt) {  // the leader counts from a preset before
  WholeKernel machine(model_with_skid("icelake", 0));
  perf::PerfCore& core = machine.core;
  machine.start_program();
  Steps steps(machine.pmu);
  perf::Event& slots = **core.open(raw(0x0400), 0, -1, nullptr);
  steps.run();
  perf::Event& retiring = **core.open(raw(0x8000), 0, -1, &slots);
  steps.run();
  EXPECT_EQ(core.read(slots)->at(0), 2 * steps.slots());
  EXPECT_EQ(core.read(retiring)->at(0), steps.fifth());
}

TEST(SlotsGroup, AMetricAddedLaterLeavesItsLeaderInPlace) {
  Machine machine(model_with_skid("icelake", 0));
  Steps steps(machine.pmu);
  perf::Event& slots = machine.opened(raw(0x0400));
  ASSERT_TRUE(machine.schedule(slots));
  steps.run();
  perf::Event& retiring = machine.opened(raw(0x8000), &slots);
  machine.driver.disable();
  ASSERT_TRUE(machine.driver.add(retiring));
  machine.driver.enable();
  steps.run();
  machine.unschedule(slots);
  EXPECT_EQ(slots.count, 2 * steps.slots());
  EXPECT_EQ(retiring.count, steps.fifth());
}

// --- guests -----------------------------------------------------------------------------------------------

class GuestOnly : public testing::TestWithParam<std::string> {};

TEST_P(GuestOnly, EventsCountNothingOnTheHostAndOthersCountAll) {
  Machine machine(model_with_skid(GetParam(), 0));
  perf::Attr attr = hardware(perf::HardwareId::branch_instructions);
  attr.exclude_host = 1;
  perf::Event& guest = machine.opened(attr);
  attr.exclude_host = 0;
  attr.exclude_guest = 1;
  perf::Event& host = machine.opened(attr);
  ASSERT_TRUE(machine.schedule(guest) && machine.schedule(host)) << machine.refusal;
  Steps steps(machine.pmu);
  for (int i = 0; i < 10; ++i) steps.run();
  machine.unschedule(guest);
  machine.unschedule(host);
  EXPECT_EQ(guest.count, 0u);
  EXPECT_EQ(host.count, 10u);
  // The counter is the host's again when its guest event has gone.
  perf::Event& next = machine.opened(attr);
  ASSERT_TRUE(machine.schedule(next));
  steps.run();
  machine.unschedule(next);
  EXPECT_EQ(next.count, 1u);
}

INSTANTIATE_TEST_SUITE_P(Presets, GuestOnly, testing::ValuesIn(model_names()), identifier);

}  // namespace
}  // namespace pmusim::driver
