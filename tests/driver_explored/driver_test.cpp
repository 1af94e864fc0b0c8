// SPDX-License-Identifier: MIT
// The Intel driver with a PMI at every place of what it does: nothing is lost, nothing is counted twice, and
// it ends as it ends without (docs/explore.md).
#include <gtest/gtest.h>

#include <functional>

#include "pmusim/explore/explore.h"
#include "pmusim/pmu/observer.h"
#include "tests/support/driver_rig.h"

namespace pmusim::driver {
namespace {

using explore::Cause;
using perf::HardwareId;

constexpr u64 period = 1000;

/// Interrupts of counters, which is what samples come from.
struct Overflows final : Observer {
  u64 count = 0;
  void on_overflow(const observed::Overflow&) override { ++count; }
};

struct Samples final : QuietSink {
  u64 count = 0;
  void output(perf::Event&, const perf::SampleData&, const InterruptFrame&) override { ++count; }
};

/// The driver on the CPU of one run.
class Rig : public DriverRig<std::reference_wrapper<explore::Cpu>> {
 public:
  explicit Rig(explore::Cpu& cpu) : DriverRig(std::ref(cpu)), cpu_(cpu) {
    cpu.pmu().set_pmi_handler(&driver);
    cpu.pmu().set_observer(&overflows);
    driver.attach(samples);
  }
  ~Rig() { cpu_.pmu().set_observer(nullptr); }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  perf::Event& sampling(
      HardwareId id, const std::function<void(perf::Attr&)>& adjust = [](perf::Attr&) {}) {
    perf::Attr attr;
    attr.type = static_cast<u32>(perf::EventType::hardware);
    attr.config = static_cast<u64>(id);
    attr.sample_period = period;
    adjust(attr);
    perf::Event& event = opened(attr);
    if (!refusal.empty()) cpu_.fail("an event is refused: " + refusal);
    events.push_back(&event);
    return event;
  }
  void check(bool holds, std::string_view what) {
    if (!holds) cpu_.fail(what);
  }
  /// What must hold once nothing is on the PMU, and no interrupt on its way.
  void check_end() {
    const DriverStatistics statistics = driver.statistics();
    check(statistics.faults.count == 0, describe(statistics.faults));
    check(statistics.stuck_interrupts == 0, "an interrupt is stuck");
    check((*cpu_.pmu().rdmsr(msr::X2APIC_LVTPC) & msr::lvtpc::MASKED) == 0, "interrupts stay masked");
    check(!cpu_.pmu().in_pmi_handler(), "the handler has not returned");
    check(cpu_.pmu().running_counters() == 0, "a counter still runs");
    u64 counted = 0;
    for (const perf::Event* event : events) counted += event->count;
    check(counted == overflows.count * period,
          std::to_string(overflows.count) + " periods are over, and " + std::to_string(counted) + " counted");
    check(samples.count <= overflows.count, "more samples than overflows");
  }

  Overflows overflows;
  Samples samples;
  std::vector<perf::Event*> events;

 private:
  explore::Cpu& cpu_;
};

void expect_no_finding(const char* model, const explore::Scenario& scenario,
                       const explore::Options& options) {
  const auto report = explore::explore(Pmu(*find_cpu_model(model)), scenario, options);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->finding) << explore::text_of(*report->finding);
  EXPECT_TRUE(report->complete);
  EXPECT_GT(report->runs, 10u);
  testing::Test::RecordProperty("runs", std::to_string(report->runs));
  testing::Test::RecordProperty("boundaries", std::to_string(report->boundaries));
}

const explore::Options one_late{
    .most_pmis = 1, .causes = {Cause::overflow, Cause::spurious}, .greatest_delay = 4};

class DriverUnderEveryPmi : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, DriverUnderEveryPmi,
                         testing::Values("nehalem", "skylake", "icelake", "sapphirerapids", "skymont",
                                         "lioncove"));

void enable_and_disable(explore::Cpu& cpu) {
  Rig rig(cpu);
  perf::Event& cycles = rig.sampling(HardwareId::cpu_cycles);
  perf::Event& branches = rig.sampling(HardwareId::branch_instructions);
  cpu.open();
  rig.schedule(cycles);
  rig.schedule(branches);
  rig.unschedule(cycles);
  rig.schedule(cycles);
  rig.unschedule(branches);
  rig.unschedule(cycles);
  cpu.close();
  rig.check_end();
}

TEST_P(DriverUnderEveryPmi, EnablesAndDisables) {
  expect_no_finding(GetParam(), enable_and_disable, one_late);
}

// The first of a pair found the driver about to write FIXED_CTR_CTRL, and enabled counters without it; then
// the counter that had just been stopped overflowed.
TEST(DriverUnderEveryPairOfPmis, EnablesAndDisables) {
  expect_no_finding("skylake", enable_and_disable,
                    {.most_pmis = 2, .causes = {Cause::overflow, Cause::spurious}});
}

void drain(explore::Cpu& cpu) {
  Rig rig(cpu);
  const auto precise = [](perf::Attr& attr) { attr.precise_ip = 2; };
  perf::Event& branches = rig.sampling(HardwareId::branch_instructions, precise);
  perf::Event& cycles = rig.sampling(HardwareId::cpu_cycles);
  cpu.open();
  rig.schedule(branches);
  rig.schedule(cycles);
  rig.driver.read(branches);
  rig.driver.context_switch(perf::PmuDriver::SwitchDirection::out, {1, 1});
  rig.driver.context_switch(perf::PmuDriver::SwitchDirection::in, {2, 2});
  rig.unschedule(branches);
  rig.unschedule(cycles);
  cpu.close();
  rig.check_end();
}

TEST_P(DriverUnderEveryPmi, Drains) { expect_no_finding(GetParam(), drain, one_late); }

void switch_contexts(explore::Cpu& cpu) {
  using Direction = perf::PmuDriver::SwitchDirection;
  Rig rig(cpu);
  perf::Event& branches = rig.sampling(HardwareId::branch_instructions, [&](perf::Attr& attr) {
    attr.sample_type |= perf::sample::BRANCH_STACK;
    attr.branch_sample_type = cpu.pmu().model().lbr.call_stack ? perf::branch::USER | perf::branch::CALL_STACK
                                                               : perf::branch::USER | perf::branch::ANY;
  });
  cpu.open();
  for (u32 task = 1; task <= 2; ++task) {
    rig.driver.context_switch(Direction::in, {task, task});
    rig.schedule(branches);
    rig.unschedule(branches);
    rig.driver.context_switch(Direction::out, {task, task});
  }
  cpu.close();
  rig.check_end();
}

TEST_P(DriverUnderEveryPmi, SwitchesContexts) { expect_no_finding(GetParam(), switch_contexts, one_late); }

/// Misses that are sampled unless a hundred branches come first.
void reload(explore::Cpu& cpu) {
  Rig rig(cpu);
  perf::Event& misses = rig.sampling(HardwareId::branch_misses, [](perf::Attr& attr) { attr.config2 = 0x2; });
  perf::Attr attr = misses.attr;
  attr.config = static_cast<u64>(HardwareId::branch_instructions);
  attr.config2 = 0x3;
  perf::Event& branches = rig.opened(attr, &misses);
  cpu.open();
  rig.schedule(misses);
  rig.driver.read(branches);
  rig.unschedule(misses);
  rig.schedule(misses);
  rig.unschedule(misses);
  cpu.close();
  rig.events.clear();  // reloads take parts of intervals back
  rig.overflows.count = 0;
  rig.samples.count = 0;
  rig.check_end();
}

TEST(DriverUnderEveryPmiOfAnAcrGroup, ReloadsCounters) {
  for (const char* model : {"skymont", "darkmont"}) expect_no_finding(model, reload, one_late);
}

}  // namespace
}  // namespace pmusim::driver
