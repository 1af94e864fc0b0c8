// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_X86_UNKNOWN_INTERRUPTS_H
#define PMUSIM_SRC_DRIVER_X86_UNKNOWN_INTERRUPTS_H

#include "pmusim/base/types.h"

namespace pmusim::driver {

/// Which NMIs a kernel logs as unknown: those that found nothing to handle. One that comes back to back after
/// one that handled several causes has found its own already handled.
class UnknownInterrupts {
 public:
  /// An NMI that interrupted at `ip` and of which `handled` causes were found. True: it is unknown.
  bool note(unsigned handled, u64 ip) {
    const bool explained = handled_before_ > 1 && handled_at_ == ip;
    handled_before_ = handled;
    handled_at_ = ip;
    return handled == 0 && !explained;
  }
  /// Another handler of the same NMI has found one of its own.
  void add_cause() { ++handled_before_; }

 private:
  unsigned handled_before_ = 0;  // by the latest interrupt, at `handled_at_`
  u64 handled_at_ = 0;
};

}  // namespace pmusim::driver

#endif
