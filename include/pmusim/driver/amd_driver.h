// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_AMD_DRIVER_H
#define PMUSIM_DRIVER_AMD_DRIVER_H

// The driver of AMD's core PMUs, from Zen on: what turns perf events into register writes, and interrupts
// into samples. It drives any `Bus`, the emulated PMU of this library or one of your own:
//
//   Pmu pmu(*find_cpu_model("genoa"));
//   driver::AmdDriver driver(pmu);
//   const auto perf = perf::PerfCore::create(driver);
//   driver.attach(*perf);
//   pmu.set_pmi_handler(&driver);

#include "pmusim/driver/core_driver.h"

namespace pmusim::driver {

namespace amd {
class Driver;
}

/// The driver of AMD core PMUs: six counters that are all alike (four where the CPU has no PerfCtrExtCore),
/// PerfMonV2 where it is, and the LBR stack of Zen 4 and later. It knows the hardware only through `Bus`.
/// There is no IBS, so that `precise_ip` is refused with EOPNOTSUPP, and no branch sampling of Zen 3.
class AmdDriver final : public CoreDriver {
 public:
  /// Asks the CPU behind `bus` what it has, and resets its PMU. `bus` must outlive the driver.
  explicit AmdDriver(Bus& bus, const DriverOptions& options = {});
  ~AmdDriver() override;
  AmdDriver(const AmdDriver&) = delete;
  AmdDriver& operator=(const AmdDriver&) = delete;

  void attach(perf::SampleSink& sink) override;
  DriverStatistics statistics() const override;
  bool knows_core() const override;
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
  void context_switch(SwitchDirection direction, perf::TaskId task) override;

  void handle_pmi(const InterruptFrame& frame) override;

 private:
  std::unique_ptr<amd::Driver> driver_;
};

}  // namespace pmusim::driver

#endif
