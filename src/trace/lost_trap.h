// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_TRACE_LOST_TRAP_H
#define PMUSIM_SRC_TRACE_LOST_TRAP_H

namespace pmusim::trace {

/// Whether this machine loses the single-step trap behind CPUID, so that the next instruction passes unseen:
/// a hypervisor executes CPUID, and some do not raise the trap then. Tried once, in a child process.
bool loses_trap_behind_cpuid();

}  // namespace pmusim::trace

#endif
