// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_EXTENDED_REGISTERS_H
#define PMUSIM_SRC_DRIVER_INTEL_EXTENDED_REGISTERS_H

#include "driver/x86/register_access.h"
#include "perf/simd_abi.h"
#include "pmusim/arch/xsave.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// The registers beyond the general ones, as software gets at those that PEBS did not record: XSAVES in the
/// interrupt, into a buffer of this CPU. In a PMI handler the register file is still the interrupted code's.
///
/// Register sets are those of perf::register_set.
class ExtendedRegisterReader {
 public:
  /// `buffer_address`: where the XSAVE area goes, 64-byte aligned.
  ExtendedRegisterReader(RegisterAccess& access, u64 buffer_address);

  /// Enables what the CPU has in XCR0 and IA32_XSS, as an operating system does, and maps the buffer. Without
  /// XSAVES, or where the address is taken, nothing is available.
  void set_up();

  /// The sets that read() knows.
  u32 available() const { return available_; }

  /// The sets of `sets` as they are now. A set whose component is in its initial configuration is empty: its
  /// registers are 0. Valid until the next call.
  const perf::ExtendedRegisters& read(u32 sets);

 private:
  bool enable_components();

  RegisterAccess& access_;
  u64 address_;
  xsave::ComponentTable components_{};
  u32 buffer_bytes_ = 0;
  u32 available_ = 0;
  perf::ExtendedRegisters registers_;
};

}  // namespace pmusim::driver

#endif
