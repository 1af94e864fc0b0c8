// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_EXPLORED_RIG_H
#define PMUSIM_TESTS_DRIVER_EXPLORED_RIG_H

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "pmusim/explore/explore.h"
#include "pmusim/pmu/observer.h"
#include "tests/support/driver_rig.h"

namespace pmusim::driver {

inline constexpr u64 explored_period = 1000;

/// Interrupts of counters, which is what samples come from.
struct Overflows final : Observer {
  u64 count = 0;
  void on_overflow(const observed::Overflow&) override { ++count; }
};

struct Samples final : QuietSink {
  u64 count = 0;
  void output(perf::Event&, const perf::SampleData&, const InterruptFrame&) override { ++count; }
};

/// A driver on the CPU of one run, which it reaches through `Hardware`.
template <class CoreDriver, class Hardware = std::reference_wrapper<explore::Cpu>>
class ExploredRig : public DriverRig<Hardware, CoreDriver> {
  using Base = DriverRig<Hardware, CoreDriver>;

 public:
  using Base::driver, Base::opened, Base::refusal;

  explicit ExploredRig(explore::Cpu& cpu) : ExploredRig(cpu, std::ref(cpu)) {}
  ExploredRig(explore::Cpu& cpu, Hardware reached, const DriverOptions& options = {})
      : Base(std::move(reached), options), cpu_(cpu) {
    cpu.pmu().set_pmi_handler(&driver);
    cpu.pmu().set_observer(&overflows);
    driver.attach(samples);
  }
  ~ExploredRig() { cpu_.pmu().set_observer(nullptr); }
  ExploredRig(const ExploredRig&) = delete;
  ExploredRig& operator=(const ExploredRig&) = delete;

  perf::Event& sampling(
      perf::HardwareId id, const std::function<void(perf::Attr&)>& adjust = [](perf::Attr&) {}) {
    perf::Attr attr;
    attr.type = static_cast<u32>(perf::EventType::hardware);
    attr.config = static_cast<u64>(id);
    attr.sample_period = explored_period;
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
    const FaultOr<u64> entry = cpu_.pmu().rdmsr(msr::X2APIC_LVTPC);  // none in xAPIC mode
    check((entry.value_or(0) & msr::lvtpc::MASKED) == 0, "interrupts stay masked");
    check(!cpu_.pmu().in_pmi_handler(), "the handler has not returned");
    check(cpu_.pmu().running_counters() == 0, "a counter still runs");
    u64 counted = 0;
    for (const perf::Event* event : events) counted += event->count;
    check(counted == overflows.count * explored_period,
          std::to_string(overflows.count) + " periods are over, and " + std::to_string(counted) + " counted");
    check(samples.count <= overflows.count, "more samples than overflows");
  }

  Overflows overflows;
  Samples samples;
  std::vector<perf::Event*> events;

 private:
  explore::Cpu& cpu_;
};

inline void expect_no_finding(const char* model, const explore::Scenario& scenario,
                              const explore::Options& options) {
  const auto report = explore::explore(Pmu(*find_cpu_model(model)), scenario, options);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->finding) << explore::text_of(*report->finding);
  EXPECT_TRUE(report->complete);
  EXPECT_GT(report->runs, 10u);
  testing::Test::RecordProperty("runs", std::to_string(report->runs));
  testing::Test::RecordProperty("boundaries", std::to_string(report->boundaries));
}

inline const explore::Options one_late{
    .most_pmis = 1, .causes = {explore::Cause::overflow, explore::Cause::spurious}, .greatest_delay = 4};

/// Two events that come and go.
template <class Rig>
void come_and_go(explore::Cpu& cpu, Rig& rig) {
  using perf::HardwareId;
  perf::Event& cycles = rig.sampling(HardwareId::cpu_cycles);
  perf::Event& branches = rig.sampling(HardwareId::branch_instructions);
  cpu.open();
  rig.schedule(cycles);
  rig.schedule(branches);
  rig.driver.read(branches);
  rig.unschedule(cycles);
  rig.schedule(cycles);
  rig.unschedule(branches);
  rig.unschedule(cycles);
  cpu.close();
  rig.check_end();
}

template <class CoreDriver>
void enable_and_disable(explore::Cpu& cpu) {
  ExploredRig<CoreDriver> rig(cpu);
  come_and_go(cpu, rig);
}

}  // namespace pmusim::driver

#endif
