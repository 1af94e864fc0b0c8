// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_ACCESS_TEXT_H
#define PMUSIM_LINUX_HOST_ACCESS_TEXT_H

#include <string>

#include "host/kernel_symbols.h"
#include "host/machine.h"

namespace pmusim::linux_driver {

/// Accesses as lines: "wrmsr IA32_PERF_GLOBAL_CTRL (38f) = f  intel_pmu_enable_all+0x3a".
class AccessText {
 public:
  std::string operator()(const Access& access) const;

 private:
  KernelSymbols symbols_;
};

}  // namespace pmusim::linux_driver

#endif
