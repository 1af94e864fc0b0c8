// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_TRAP_SIGNAL_STACK_H
#define PMUSIM_SRC_TRAP_SIGNAL_STACK_H

#include <signal.h>

#include "pmusim/base/types.h"

namespace pmusim::trap {

/// A stack for this thread's signal handlers, instead of the one that it had: large enough for a PMI handler
/// that is interrupted itself. The page below it is nobody's.
class SignalStack {
 public:
  SignalStack() = default;
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  /// Gives the former stack back, unless a third has been installed.
  ~SignalStack();
  /// False where the system has no memory, or the thread is in a handler on such a stack.
  bool install();

 private:
  std::byte* memory_ = nullptr;
  stack_t before_{};
};

}  // namespace pmusim::trap

#endif
