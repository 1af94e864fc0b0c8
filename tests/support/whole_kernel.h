// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_WHOLE_KERNEL_H
#define PMUSIM_TESTS_SUPPORT_WHOLE_KERNEL_H

#include <memory>

#include "driver/intel/intel_driver.h"
#include "pmusim/perf/core.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::driver {

/// Hardware, driver and perf core of one release, wired together, without a session around them.
template <class CoreDriver>
class KernelWith : public PmiHandler {
 public:
  Pmu pmu;
  CoreDriver driver;

 private:
  std::unique_ptr<perf::PerfCore> core_;

 public:
  perf::PerfCore& core = *core_;
  perf::PerfCpu& cpu;

  explicit KernelWith(Pmu machine, perf::Kernel kernel = DriverOptions().kernel,
                      perf::CoreOptions options = {})
      : pmu(std::move(machine)),
        driver(pmu, {.kernel = kernel}),
        core_(perf::PerfCore::create(driver, with(options, kernel))),
        cpu(core_->cpu(options.cpu)) {
    driver.attach(cpu);
    pmu.set_pmi_handler(this);
  }
  explicit KernelWith(const CpuModel& model, perf::Kernel kernel = DriverOptions().kernel)
      : KernelWith(Pmu(model), kernel) {}
  KernelWith(const KernelWith&) = delete;
  KernelWith& operator=(const KernelWith&) = delete;

  void handle_pmi(const InterruptFrame& frame) override { driver.handle_pmi(frame); }

  /// A task of that number is on the CPU.
  void start_program(u32 id = 1) {
    core.task_started(id, id, "program");
    cpu.switch_to(id);
  }

 private:
  static perf::CoreOptions with(perf::CoreOptions options, perf::Kernel kernel) {
    options.limits.kernel = kernel;
    return options;
  }
};

using WholeKernel = KernelWith<IntelDriver>;

}  // namespace pmusim::driver

#endif
