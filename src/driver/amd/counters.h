// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_AMD_COUNTERS_H
#define PMUSIM_SRC_DRIVER_AMD_COUNTERS_H

#include <array>

#include "driver/amd/enumeration.h"
#include "driver/x86/register_access.h"

namespace pmusim::driver::amd {

/// The counters' registers as the driver writes them.
///
/// With PerfMonV2 each select has its EN at once, and one register lets all count. Without, EN alone does,
/// so that selects are written one after the other as the PMU stops and goes on.
class Counters {
 public:
  Counters(RegisterAccess& access, const Enumeration& cpu);

  /// As a CPU comes up. Without PerfMonV2 what firmware may have left counting goes on.
  void reset();

  /// RDPMC.
  u64 read(unsigned n);
  void write(unsigned n, u64 value) { access_.wrmsr(counter_address(n), value & cpu_.counter_mask()); }
  /// Of the upper half of a pair: the sign of a start value, so that both halves overflow together.
  void write_upper(unsigned n) { access_.wrmsr(counter_address(n + 1), 0xFFFF); }
  /// Whether a counter counts alone, or the next one is its upper half.
  enum class Width : u8 { one, pair };
  /// `select` without EN.
  void start(unsigned n, u64 select, Width width);
  void stop(unsigned n);

  void enable_all();
  void disable_all();

  /// PerfCntrGlobalStatus.
  u64 status();
  /// Clears all bits of the status but `kept`.
  void acknowledge(u64 kept);
  /// An overflow shows that no interrupt has handled yet.
  bool overflow_pending(unsigned n);

 private:
  void enable(unsigned n);
  void stop_upper(unsigned n);
  u32 select_address(unsigned n) const;
  u32 counter_address(unsigned n) const;

  RegisterAccess& access_;
  const Enumeration& cpu_;
  bool enabled_ = false;
  u64 active_ = 0, pairs_ = 0;
  std::array<u64, 16> selects_{};  // without EN, of active counters
};

}  // namespace pmusim::driver::amd

#endif
