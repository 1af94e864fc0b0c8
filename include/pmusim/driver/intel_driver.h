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

#include <memory>

#include "pmusim/driver/options.h"
#include "pmusim/driver/statistics.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

class Driver;
struct Enumeration;

/// The driver of Intel core PMUs: turns perf events into register contents, gives them counters, and turns
/// PMIs into samples. It knows the hardware only through `Bus`.
///
/// Calls that change what is counted come between `disable()` and `enable()`, as the perf core does it.
class IntelDriver final : public perf::PmuDriver, public PmiHandler {
 public:
  /// Asks the CPU behind `bus` what it has, resets its PMU and sets up the PEBS memory. `bus` and
  /// `options.core` must outlive the driver.
  explicit IntelDriver(Bus& bus, DriverOptions options = {});
  ~IntelDriver() override;
  IntelDriver(const IntelDriver&) = delete;
  IntelDriver& operator=(const IntelDriver&) = delete;

  /// Where samples go. Before any event is started.
  void attach(perf::SampleSink& sink);

  /// Which releases of Linux drive auto counter reload.
  static perf::Change auto_counter_reload();
  /// Whether the driver has tables for the core; else it knows architectural events alone.
  bool knows_core() const;
  /// What the driver takes the CPU for, for tests of the project itself: src/driver/enumeration.h.
  const Enumeration& enumeration() const;
  DriverStatistics statistics() const;
  /// What became of every PEBS record so far.
  const DemuxTotals& pebs_totals() const;
  /// True when PEBS records wait to become samples, or when nobody can tell.
  bool holds_records() const;
  /// Mappings changed: what the driver remembers of the program's code is void.
  void forget_code();

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
