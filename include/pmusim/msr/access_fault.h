// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MSR_ACCESS_FAULT_H
#define PMUSIM_MSR_ACCESS_FAULT_H

#include "pmusim/base/bus.h"

/// An access of software to a register that faulted, with what decided it. `Pmu::why` makes a sentence of it:
///
///     if (pmu.wrmsr(msr::PERF_GLOBAL_CTRL, bit(4)) != Fault::none) puts(pmu.why().c_str());
///
namespace pmusim::observed {

enum class AccessKind : u8 { rdmsr, wrmsr, rdpmc, xgetbv, xsetbv };

/// The rule of the model that an access broke.
enum class FaultRule : u8 {
  exists,      ///< the model has no such register, or counter
  present,     ///< the register is not there in the present state: Register::present
  readable,    ///< it is write-only
  writable,    ///< it is read-only
  reserved,    ///< bits of the value are reserved
  value,       ///< the register does not take the value: Register::takes
  privileged,  ///< ring 0 only, or CR4.PCE
  enabled,     ///< the model has no XSAVE, or CR4.OSXSAVE is clear
};

/// An access that faulted, and changed nothing.
struct AccessFault {
  u64 cycle = 0;
  AccessKind access = AccessKind::rdmsr;
  u32 address = 0;  ///< of the MSR; ECX of RDPMC, XGETBV and XSETBV
  u64 value = 0;    ///< that was to be written
  Fault fault = Fault::gp;
  FaultRule rule = FaultRule::exists;
  u64 bits = 0;  ///< of the value: those that are reserved
};

}  // namespace pmusim::observed

#endif
