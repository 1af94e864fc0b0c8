// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_IBS_DRIVER_H
#define PMUSIM_DRIVER_IBS_DRIVER_H

// The drivers of AMD's instruction-based sampling, `ibs_fetch` and `ibs_op`: two PMUs beside that of the
// core.
//
//   Pmu pmu(*find_cpu_model("genoa"));
//   driver::IbsDriver ops(pmu, driver::IbsSide::op);
//   const auto perf = perf::PerfCore::create(core_driver);
//   perf->register_pmu(11, ops);
//   ops.attach(perf->cpu(0));

#include <memory>

#include "pmusim/driver/options.h"
#include "pmusim/driver/statistics.h"
#include "pmusim/perf/driver.h"
#include "pmusim/perf/kernel.h"

namespace pmusim::driver {

/// Which of the two units a driver drives.
enum class IbsSide : u8 { fetch, op };

/// The driver of one unit of IBS: one event at a time, which always samples. It does what Linux does
/// (arch/x86/events/amd/ibs.c) by what CPUID says of the part, and knows the hardware only through `Bus`.
///
/// Attributes: `config` has the control register's bits (fetch: 15:0 the period in 16, 57 random low bits, 59
/// L3 misses only; op: 15:0 and 26:20 the period, 16 L3 misses only, 19 counts ops), as far as the part has
/// them; `config1` bits 11:0 of ibs_op the least latency of a load, 128 to 2048 cycles; `config2` bit 0
/// filters by privilege in software, without which exclude_user and exclude_kernel are EINVAL.
class IbsDriver final : public perf::PmuDriver, public PmiHandler {
 public:
  /// Has the local APIC deliver the unit's interrupt as an NMI. `bus` must outlive the driver.
  IbsDriver(Bus& bus, IbsSide side, DriverOptions options = {});
  ~IbsDriver() override;
  IbsDriver(const IbsDriver&) = delete;
  IbsDriver& operator=(const IbsDriver&) = delete;

  /// Where samples go. Before any event is started.
  void attach(perf::SampleSink& sink);
  /// The release that has `swfilt`.
  static perf::Change level_filter();
  /// Whether the part has the unit. Without it every event is ENODEV.
  bool is_there() const;
  DriverStatistics statistics() const;

  /// The part of an NMI that is this unit's. True: it was its, or the late one of an event that has been
  /// stopped.
  bool handle_nmi(const InterruptFrame& frame);
  void handle_pmi(const InterruptFrame& frame) override { static_cast<void>(handle_nmi(frame)); }

  perf::PmuCapabilities capabilities() const override;
  Result<Done, KernelError> init(perf::Event& event) override;
  void destroy(perf::Event&) override {}
  void disable() override {}
  void enable() override {}
  void begin() override;
  bool commit() override;
  void cancel() override;
  bool add(perf::Event& event) override;
  void remove(perf::Event& event) override;
  void start(perf::Event& event, StartMode mode) override;
  void stop(perf::Event& event, StopMode mode) override;
  void read(perf::Event&) override {}  // counts move at interrupts and when the event stops
  void context_switch(SwitchDirection, perf::TaskId) override {}

 private:
  class Unit;
  std::unique_ptr<Unit> unit_;
};

}  // namespace pmusim::driver

#endif
