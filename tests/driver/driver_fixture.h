#ifndef PMUSIM_TESTS_DRIVER_DRIVER_FIXTURE_H
#define PMUSIM_TESTS_DRIVER_DRIVER_FIXTURE_H

#include <deque>

#include "fake_cpus.h"
#include "pmusim/driver/intel_driver.h"

namespace pmusim::driver {

/// What the perf core would take: the samples, in order.
class RecordingSink : public perf::SampleSink {
 public:
  struct Sample {
    const perf::Event* event;
    u64 period;
  };
  std::vector<Sample> samples;
  Verdict verdict = Verdict::keep;

  Verdict overflow(perf::Event& event, const perf::SampleData& data, const InterruptFrame&) override {
    samples.push_back({&event, data.period});
    return verdict;
  }
  void output(perf::Event& event, const perf::SampleData& data, const InterruptFrame&) override {
    samples.push_back({&event, data.period});
  }
  void lost_samples(perf::Event& event, u64 count) override { event.lost_samples += count; }
  Verdict account_interrupt(perf::Event&) override { return verdict; }
  u64 time_of_tsc(u64 tsc) const override { return tsc; }
  u64 now() const override { return 0; }
  std::vector<std::byte> read_code(u64, std::size_t) const override { return {}; }
};

/// A driver on a fake CPU, with a perf core's few habits: events in groups, all-or-nothing scheduling.
class Rig {
 public:
  FakeBus bus;
  IntelDriver driver;
  RecordingSink sink;

  explicit Rig(FakeBus cpu, DriverOptions options = {}) : bus(std::move(cpu)), driver(bus, options) {
    driver.attach(sink);
    bus.writes.clear();
  }

  static perf::Attr raw(u64 config, u64 period = 0) {
    perf::Attr attr;
    attr.type = static_cast<u32>(perf::EventType::raw);
    attr.config = config;
    attr.sample_period = period;
    return attr;
  }
  /// An event with a value for its extra register.
  static perf::Attr with_value(u64 config, u64 value) {
    perf::Attr attr = raw(config);
    attr.config1 = value;
    return attr;
  }
  static perf::Attr precise(u64 config, unsigned level, u64 period = 100'000) {
    perf::Attr attr = raw(config, period);
    attr.precise_ip = level & 3;
    return attr;
  }
  static perf::Attr generic(perf::HardwareId id, u64 period = 0) {
    perf::Attr attr = raw(static_cast<u64>(id), period);
    attr.type = static_cast<u32>(perf::EventType::hardware);
    return attr;
  }

  /// An event as perf_event_open makes it, before the driver has seen it.
  perf::Event& make(const perf::Attr& attr, perf::Event* leader = nullptr) {
    perf::Event& event = events_.emplace_back();
    event.attr = attr;
    event.leader = leader != nullptr ? leader : &event;
    event.state = perf::EventState::inactive;
    return event;
  }
  /// Opens it and, as a sibling, joins the group. The errno of a refusal, or 0.
  int open(perf::Event& event) {
    const auto result = driver.init(event);
    if (!result.ok()) {
      refusal = result.error().message;
      return result.error().error_number;
    }
    if (!event.is_leader()) event.leader->siblings.push_back(&event);
    return 0;
  }
  perf::Event& opened(const perf::Attr& attr, perf::Event* leader = nullptr) {
    perf::Event& event = make(attr, leader);
    open(event);
    return event;
  }
  int error_of(const perf::Attr& attr, perf::Event* leader = nullptr) { return open(make(attr, leader)); }

  /// Schedules a group; false, with nothing left on the PMU, where it does not fit.
  bool schedule(perf::Event& leader) {
    driver.disable();
    driver.begin();
    bool fits = driver.add(leader);
    for (perf::Event* sibling : leader.siblings) fits = fits && driver.add(*sibling);
    fits = fits && driver.commit();
    if (!fits) driver.cancel();
    driver.enable();
    return fits;
  }
  void unschedule(perf::Event& leader) {
    driver.disable();
    for (perf::Event* sibling : leader.siblings) driver.remove(*sibling);
    driver.remove(leader);
    driver.enable();
  }

  u32 counter_address(unsigned n) const {
    const bool v6 = driver.enumeration().perfmon_version >= 6;
    if (n >= 32) return v6 ? msr::V6_FX0_CTR + 4 * (n - 32) : msr::FIXED_CTR0 + n - 32;
    if (v6) return msr::V6_GP0_CTR + 4 * n;
    return (driver.enumeration().perf_capabilities & msr::perf_cap::FW_WRITE) != 0 ? msr::A_PMC0 + n
                                                                                   : msr::PMC0 + n;
  }
  u64& counter(const perf::Event& event) {
    return bus.msrs[counter_address(static_cast<unsigned>(event.hw.index))];
  }
  /// Lets the event happen `count` times, as the hardware counts it.
  void count(const perf::Event& event, u64 count) {
    u64& value = counter(event);
    const u64 sum = value + count;
    value = sum & driver.enumeration().counter_mask();
    if (sum != value) bus.msrs[msr::PERF_GLOBAL_STATUS] |= bit(static_cast<unsigned>(event.hw.index));
  }
  void interrupt() { driver.handle_pmi(frame); }

  InterruptFrame frame{};
  std::string refusal;

 private:
  std::deque<perf::Event> events_;
};

/// Two hyper-threads of one core.
struct TwoThreads {
  CoreResources core;
  Rig a, b;
  explicit TwoThreads(FakeBus (*cpu)())
      : a(cpu(), {.core = &core, .thread = 0}), b(cpu(), {.core = &core, .thread = 1}) {}
};

}  // namespace pmusim::driver

#endif
