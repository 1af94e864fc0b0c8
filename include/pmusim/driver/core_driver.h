// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_CORE_DRIVER_H
#define PMUSIM_DRIVER_CORE_DRIVER_H

// What the drivers of all vendors' core PMUs have in common, and the one that a CPU needs:
//
//   Pmu pmu(*find_cpu_model("genoa"));
//   const auto driver = driver::create_driver(pmu);
//   const auto perf = perf::PerfCore::create(*driver);
//   driver->attach(perf->cpu(0));
//   pmu.set_pmi_handler(driver.get());

#include <memory>

#include "pmusim/driver/options.h"
#include "pmusim/driver/statistics.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// A driver of the core PMU of one logical processor. Calls that change what is counted come between
/// `disable()` and `enable()`, as the perf core does it.
class CoreDriver : public perf::PmuDriver, public PmiHandler {
 public:
  /// Where samples go. Before any event is started.
  virtual void attach(perf::SampleSink& sink) = 0;
  virtual DriverStatistics statistics() const = 0;
  /// Whether the driver has tables for the core.
  virtual bool knows_core() const = 0;
  /// What became of every PEBS record so far; of all zeros where there is no PEBS.
  virtual const DemuxTotals& pebs_totals() const;
  /// True when hardware's records wait to become samples, or when nobody can tell.
  virtual bool holds_records() const { return false; }
  /// Mappings changed: what the driver remembers of the program's code is void.
  virtual void forget_code() = 0;
};

/// The driver of the CPU behind `bus`, by the vendor that its CPUID names. It asks the CPU what it has,
/// resets its PMU and, on Intel, sets up the PEBS memory. `bus` and `options.core` must outlive it.
std::unique_ptr<CoreDriver> create_driver(Bus& bus, const DriverOptions& options = {});

}  // namespace pmusim::driver

#endif
