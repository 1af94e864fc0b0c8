// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_DEBUG_STORE_ARCH_BUFFER_H
#define PMUSIM_SRC_DRIVER_INTEL_DEBUG_STORE_ARCH_BUFFER_H

#include "driver/x86/register_access.h"

namespace pmusim::driver {

/// The buffer of architectural PEBS, which two registers describe instead of the DS area: PEBS_BASE with its
/// address and size, and PEBS_INDEX with how full it is and when it interrupts.
///
/// Taking records needs PEBS stopped.
class ArchPebsBuffer {
 public:
  /// Where the buffer is: the driver reads it at one address, and hardware writes it at the other.
  struct Place {
    u64 linear, physical;
    u64 bytes;  ///< a power of two, of 4096 on
  };
  ArchPebsBuffer(RegisterAccess& access, const Place& place) : access_(access), place_(place) {}

  /// Maps the buffer and says where it is. Fault::pf where the addresses are taken.
  [[nodiscard]] Fault set_up();

  /// Hardware stores records, and interrupts as soon as so many bytes are in the buffer (multiples of 16).
  /// False while records have been collected under a larger threshold, which the new one would lose: taking
  /// them sets it.
  [[nodiscard]] bool change_threshold(u64 bytes);

  /// True when records are in the buffer, and when nobody can tell.
  bool holds_records() const;
  /// Empties the buffer: a view of what was in it, until PEBS goes on, then under this threshold.
  std::span<std::byte> take(u64 threshold);

 private:
  RegisterAccess& access_;
  Place place_;
};

}  // namespace pmusim::driver

#endif
