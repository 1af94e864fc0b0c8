// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_EXPLORED_OTHER_CPU_H
#define PMUSIM_TESTS_DRIVER_EXPLORED_OTHER_CPU_H

#include "rig.h"

namespace pmusim::driver {

/// The CPU that no PMI is placed on: its own counters interrupt it.
template <class CoreDriver>
class OtherCpu : public DriverRig<std::reference_wrapper<Pmu>, CoreDriver> {
  using Base = DriverRig<std::reference_wrapper<Pmu>, CoreDriver>;

 public:
  OtherCpu(Pmu& pmu, const DriverOptions& options) : Base(std::ref(pmu), options), pmu_(pmu) {
    pmu.set_pmi_handler(&this->driver);
    pmu.set_observer(&overflows);
    this->driver.attach(samples);
  }
  ~OtherCpu() {
    pmu_.set_observer(nullptr);
    pmu_.set_pmi_handler(nullptr);
  }
  OtherCpu(const OtherCpu&) = delete;
  OtherCpu& operator=(const OtherCpu&) = delete;

  void branch(u64 times) {
    for (; times != 0; --times) retire({Signal::instruction, Signal::branch});
    for (unsigned n = 0; n < 100; ++n) retire({Signal::instruction});  // until the interrupt has come
  }

  Overflows overflows;
  Samples samples;

 private:
  void retire(SignalSet signals) {
    pmu_.retire({.ip = 0x401000, .next_ip = 0x401000, .cycle = ++cycle_, .signals = signals, .length = 2});
  }

  Pmu& pmu_;
  u64 cycle_ = 0;
};

}  // namespace pmusim::driver

#endif
