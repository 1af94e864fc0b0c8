// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_INTEL_DRIVER_H
#define PMUSIM_DRIVER_INTEL_DRIVER_H

// The Intel PMU driver: what turns perf events into register writes, and interrupts into samples. It drives
// any `Bus`, the emulated PMU of this library or one of your own:
//
//   Pmu pmu(*find_cpu_model("skylake"));
//   driver::IntelDriver driver(pmu);
//   const auto perf = perf::PerfCore::create(driver);
//   driver.attach(*perf);
//   pmu.set_pmi_handler(&driver);

#include "pmusim/driver/core_driver.h"

namespace pmusim::driver {

class Driver;
struct Enumeration;

/// The driver of Intel core PMUs: turns perf events into register contents, gives them counters, and turns
/// PMIs into samples. It knows the hardware only through `Bus`.
class IntelDriver final : public CoreDriver {
 public:
  /// Asks the CPU behind `bus` what it has, resets its PMU and sets up the PEBS memory. `bus` and
  /// `options.core` must outlive the driver.
  explicit IntelDriver(Bus& bus, DriverOptions options = {});
  ~IntelDriver() override;
  IntelDriver(const IntelDriver&) = delete;
  IntelDriver& operator=(const IntelDriver&) = delete;

  void attach(perf::SampleSink& sink) override;

  /// Which releases of Linux drive auto counter reload.
  static perf::Change auto_counter_reload();
  /// Without tables for the core it knows architectural events alone.
  bool knows_core() const override;
  /// What the driver takes the CPU for, for tests of the project itself: src/driver/enumeration.h.
  const Enumeration& enumeration() const;
  DriverStatistics statistics() const override;
  const DemuxTotals& pebs_totals() const override;
  bool holds_records() const override;
  void forget_code() override;

  perf::PmuCapabilities capabilities() const override;
  Result<Done, KernelError> init(perf::Event& event) override;
  void destroy(perf::Event& event) override;
  void disable() override;
  void enable() override;
  void begin() override;
  bool commit() override;
  void cancel() override;
  bool add(perf::Event& event) override;
  void remove(perf::Event& event) override;
  void start(perf::Event& event, StartMode mode) override;
  void stop(perf::Event& event, StopMode mode) override;
  void read(perf::Event& event) override;
  void read_member(perf::Event& event) override;
  void context_switch(SwitchDirection direction, perf::TaskId task) override;

  void handle_pmi(const InterruptFrame& frame) override;

 private:
  std::unique_ptr<Driver> driver_;
};

}  // namespace pmusim::driver

#endif
