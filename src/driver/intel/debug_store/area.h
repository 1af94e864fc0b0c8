// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_DEBUG_STORE_AREA_H
#define PMUSIM_SRC_DRIVER_INTEL_DEBUG_STORE_AREA_H

#include <array>
#include <optional>

#include "driver/x86/register_access.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

/// A buffer that hardware fills with records of one size. It interrupts when `threshold_bytes` are in it.
struct RecordBuffer {
  u64 address = 0, bytes = 0;
  u64 record_bytes = 0;
  u64 threshold_bytes = 0;
};

/// The DS management area: the page in which hardware finds the buffers of branch trace store and PEBS, how
/// full they are, and what PEBS resets counters to (SDM vol. 3, "DS save area"). A CPU has one, and this is
/// its only owner: branch trace and PEBS each have a buffer of it.
///
/// Taking records needs their writer stopped.
class DebugStoreArea {
 public:
  /// `address`: where the page goes.
  DebugStoreArea(RegisterAccess& access, u64 address) : access_(access), address_(address) {}

  enum class Writer : u8 { branch_trace, pebs };

  /// Maps the buffer and announces it; the first one has the area mapped and DS_AREA point to it, too.
  /// Fault::pf where the addresses are taken.
  [[nodiscard]] Fault set_up(Writer writer, const RecordBuffer& buffer);

  void set_threshold(Writer writer, u64 bytes);
  /// `slot`: see reset_slot_offset().
  void set_reset(u64 slot, u64 value) { write(slot, value); }

  /// True when records are in the buffer, and when nobody can tell.
  bool holds_records(Writer writer) const;
  /// Empties the buffer: a view of what was in it, until the writer goes on.
  std::span<std::byte> take(Writer writer);

 private:
  /// One buffer's pointers, as they stand in the area.
  struct Pointers {
    le64 base, index, maximum, threshold;
  };
  static u64 offset_of(Writer writer);
  [[nodiscard]] Fault map();
  std::optional<Pointers> read(Writer writer) const;
  void write(u64 offset, u64 value);

  RegisterAccess& access_;
  u64 address_;
  std::optional<Fault> mapped_;   // what came of mapping and announcing the area
  std::array<u64, 2> buffers_{};  // addresses, by writer
};

}  // namespace pmusim::driver

#endif
