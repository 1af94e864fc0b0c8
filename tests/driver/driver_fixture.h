// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_DRIVER_FIXTURE_H
#define PMUSIM_TESTS_DRIVER_DRIVER_FIXTURE_H

#include "driver/intel/enumeration.h"
#include "fake_cpus.h"
#include "tests/support/driver_rig.h"

namespace pmusim::driver {

/// What the perf core would take: the samples, in order.
class RecordingSink : public QuietSink {
 public:
  struct Sample {
    const perf::Event* event;
    u64 period;
  };
  std::vector<Sample> samples;
  Verdict verdict = Verdict::keep;

  Verdict overflow(perf::Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    output(event, data, frame);
    return verdict;
  }
  void output(perf::Event& event, const perf::SampleData& data, const InterruptFrame&) override {
    samples.push_back({&event, data.period});
  }
  Verdict account_interrupt(perf::Event&) override { return verdict; }
};

/// A driver on a fake CPU.
class Rig : public DriverRig<FakeBus> {
 public:
  FakeBus& bus = hardware;
  RecordingSink sink;

  explicit Rig(FakeBus cpu, const DriverOptions& options = {}) : DriverRig(std::move(cpu), options) {
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

  u32 counter_address(unsigned n) const {
    const bool v6 = driver.enumeration().perfmon_version >= 6;
    if (n >= 32) return v6 ? msr::V6_FX0_CTR + 4 * (n - 32) : msr::FIXED_CTR0 + n - 32;
    if (v6) return msr::V6_GP0_CTR + 4 * n;
    return (driver.enumeration().perf_capabilities & msr::perf_cap::FW_WRITE) != 0 ? msr::A_PMC0 + n
                                                                                   : msr::PMC0 + n;
  }
  u64& counter(const perf::Event& event) { return bus.msrs[counter_address(counter_of(event))]; }
  /// Lets the event happen `count` times, as the hardware counts it.
  void count(const perf::Event& event, u64 count) {
    u64& value = counter(event);
    const u64 sum = value + count;
    value = sum & driver.enumeration().counter_mask();
    if (sum != value) bus.msrs[msr::PERF_GLOBAL_STATUS] |= bit(counter_of(event));
  }
  void interrupt() { driver.handle_pmi(frame); }

  InterruptFrame frame{};
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
