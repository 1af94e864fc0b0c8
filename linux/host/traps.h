// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_TRAPS_H
#define PMUSIM_LINUX_HOST_TRAPS_H

namespace pmusim::linux_driver {

/// From here on, WARN and BUG of the kernel (which are UD2) are reported to the present machine. After a WARN
/// the kernel goes on; after a BUG the program ends with exit status 3. RDMSR and WRMSR in the kernel's code
/// go to the present machine.
void catch_traps();

}  // namespace pmusim::linux_driver

#endif
