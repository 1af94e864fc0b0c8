// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_KERNEL_SYMBOLS_H
#define PMUSIM_LINUX_HOST_KERNEL_SYMBOLS_H

#include <map>
#include <string>

#include "pmusim/base/types.h"

namespace pmusim::linux_driver {

/// The functions of this program, the kernel's among them, by address.
class KernelSymbols {
 public:
  /// Reads the symbol table of the running program; of a stripped one nothing is known.
  KernelSymbols();
  /// "intel_pmu_enable_all+0x1c", or the address where no function is known.
  std::string at(u64 address) const;

 private:
  struct Function {
    u64 bytes = 0;
    std::string name;
  };
  std::map<u64, Function> functions_;
};

}  // namespace pmusim::linux_driver

#endif
