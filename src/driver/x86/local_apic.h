// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_X86_LOCAL_APIC_H
#define PMUSIM_SRC_DRIVER_X86_LOCAL_APIC_H

#include "driver/x86/register_access.h"

namespace pmusim::driver {

/// The entry of the local APIC that says what a PMI becomes. Before x2APIC it is in memory, not in MSRs.
class LocalApic {
 public:
  /// `access` must outlive it.
  explicit LocalApic(RegisterAccess& access) : access_(access) {}

  /// Finds the entry, and has PMIs arrive as NMIs.
  void set_up();
  /// False: no PMI ever arrives.
  bool reachable() const { return reachable_; }
  /// Writes the entry again, which takes back a mask that the APIC set when it delivered.
  void unmask();

 private:
  RegisterAccess& access_;
  bool reachable_ = true, in_memory_ = false;
};

}  // namespace pmusim::driver

#endif
