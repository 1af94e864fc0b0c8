// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_ACCESS_FAULTS_H
#define PMUSIM_DRIVER_ACCESS_FAULTS_H

// What the driver was refused by the PMU: nothing, unless one of them is wrong.

#include <string>

#include "pmusim/base/bits.h"

namespace pmusim::driver {

/// What a driver does through `Bus` that can fault.
enum class Access : u8 { rdmsr, wrmsr, rdpmc, read_memory, write_memory, xsaves, xrstors };

/// An access that faulted although enumeration promised that it would not.
struct AccessFault {
  Access access = Access::rdmsr;
  u64 address = 0;  ///< of the register or the memory; RDPMC: ECX
  u64 value = 0;    ///< written; the first eight bytes where it was memory; features of XSAVES. 0 for reads
};

struct AccessFaults {
  u64 count = 0;
  AccessFault first;  ///< meaningless while there is none
};

/// "2 of the driver's accesses to the PMU faulted, ...": a sentence with the first of them; empty for none.
std::string describe(const AccessFaults& faults);

}  // namespace pmusim::driver

#endif
