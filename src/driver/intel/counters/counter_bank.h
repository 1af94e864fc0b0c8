// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_COUNTERS_COUNTER_BANK_H
#define PMUSIM_SRC_DRIVER_INTEL_COUNTERS_COUNTER_BANK_H

#include <array>
#include <span>
#include <vector>

#include "driver/intel/enumeration.h"
#include "driver/x86/constraint.h"
#include "driver/x86/register_access.h"
#include "pmusim/driver/drivers.h"

namespace pmusim::driver {

/// The counters' registers as the driver writes them: which MSR holds counter 33, how an event select becomes
/// a nibble of FIXED_CTR_CTRL, what has to be switched for everything to stop.
///
/// On perfmon 2 and later all counters have their GLOBAL_CTRL bit set while the PMU is enabled; the
/// individual enables decide. Version 1 has no global register: each select is rewritten.
class CounterBank {
 public:
  CounterBank(RegisterAccess& access, const Enumeration& enumeration);

  /// Everything zero and acknowledged, as firmware may have left it otherwise.
  void reset();

  u64 read(unsigned counter);
  /// Truncated to the counter's width.
  void write(unsigned counter, u64 value);
  /// `select` without EN. A fixed counter's control is written by `enable_all`, or at once while enabled.
  void start(unsigned counter, u64 select);
  void stop(unsigned counter);
  /// Keeps the counter from counting on the host until it is stopped: its GLOBAL_CTRL bit is for a hypervisor
  /// to set while a guest runs. Takes effect with the next `enable_all`.
  void withhold(unsigned counter) { withheld_ |= bit(counter); }
  /// The same the other way round: it stands still while a guest runs.
  void keep_from_guests(unsigned counter) { hosts_ |= bit(counter); }
  /// What a hypervisor has to load for a guest in whose time the counters `except` stand still too.
  std::vector<GuestRegister> guest_registers(u64 except) const;

  /// CFG_B: what reloads the counter. Writes only changes; counters without the register have no causes.
  void set_reload_causes(unsigned counter, u64 causes);
  u64 reload_causes(unsigned counter) const { return cfg_b_[counter]; }
  /// CFG_C with nothing but a value to reload, written if it has another one.
  void set_reload_value(unsigned counter, u64 value);
  /// CFG_C, written if that changes it.
  void set_reload_config(unsigned counter, u64 value);

  void enable_all();
  void disable_all();
  /// The first general counters count `selects` from 0 for a moment, while nothing else does. Then each is to
  /// be resumed.
  void exercise(std::span<const u64> selects);
  /// The counter has again what it was started with; one that is off has nothing.
  void resume(unsigned gp);
  /// Version 2 and later: one register stops all counters, and one says who overflowed.
  bool has_global() const { return version_ >= 2; }
  /// GLOBAL_STATUS.
  u64 status();
  void acknowledge(u64 status);

 private:
  u32 counter_address(unsigned counter) const;
  u32 select_address(unsigned gp) const;
  u32 reload_address(unsigned counter, u32 gp0, u32 fixed0) const;
  void write_fixed_control();

  RegisterAccess& access_;
  unsigned version_, width_;
  u64 counters_, global_ctrl_;
  u64 withheld_ = 0, hosts_ = 0;
  bool full_width_;
  bool enabled_ = false;
  u64 fixed_control_ = 0, fixed_control_written_ = 0;
  std::array<u64, 32> select_{};  // with EN, as it should be while enabled; 0 stopped
  std::array<u64, counter::SLOT_COUNT> cfg_b_{}, cfg_c_{};
};

}  // namespace pmusim::driver

#endif
