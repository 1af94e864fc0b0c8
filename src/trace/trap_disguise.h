// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_TRAP_DISGUISE_H
#define PMUSIM_TRACE_TRAP_DISGUISE_H

#include <csignal>
#include <memory>
#include <optional>

#include "trace/tracee.h"

namespace pmusim::trace {

/// Keeps from a thread what steps do to its SIGTRAP.
///
/// A step ends in a SIGTRAP that the kernel forces: where the thread blocks or ignores that signal, it would
/// be unblocked and its disposition reset (force_sig_info). So while a thread is stepped, SIGTRAP is neither
/// blocked nor ignored in the kernel, and remembered here if the program thinks so. System calls run without
/// steps: around them the kernel has the program's own signal set, and whatever they do with it is right.
class TrapDisguise {
 public:
  /// SIGTRAP as the processes' dispositions have it; threads of a process share it, as the kernel's are.
  struct Disposition {
    bool trap_ignored = false;
  };

  /// Of a first thread. The kernel has its mask until hide_mask().
  explicit TrapDisguise(Disposition disposition) : disposition_(std::make_shared<Disposition>(disposition)) {}
  /// Of a thread that this one starts.
  TrapDisguise of_thread() const;
  TrapDisguise of_process() const { return TrapDisguise(*disposition_); }

  /// At the stops before and after a system call, whose number and arguments are in the registers. After one
  /// that the kernel is going to repeat it keeps the program's own set: which signals end the wait may be
  /// part of it.
  void enter_call(u32 tid, u64 number, const Registers& registers);
  void leave_call(u32 tid, u64 number, const Registers& registers);

  /// Lets the kernel see the signal mask as the program has it: a signal's frame is about to be made of it,
  /// or steps are over.
  void show_mask(u32 tid);
  /// Takes SIGTRAP out of the mask again, which the kernel has as the program does, before the next step.
  void hide_mask(u32 tid);
  bool shows_mask() const { return shown_; }

  /// Whether a SIGTRAP that was sent is to be kept back: it is ignored, or blocked (it then waits).
  bool keeps_back_trap(u32 tid);
  bool ignores_trap() const { return disposition_->trap_ignored; }
  /// Steps are over: the mask and a waiting SIGTRAP are the kernel's again. That the signal is ignored only a
  /// system call of the program's can tell the kernel.
  void give_back(u32 tid);

 private:
  void enter_sigaction(u32 tid, const Registers& registers);
  void leave_sigaction(u32 tid, const Registers& registers);
  void restore_sender(u32 tid);
  void send_waiting(u32 tid);

  std::shared_ptr<Disposition> disposition_;
  bool shown_ = true;  // the kernel has the mask as the program does
  bool trap_blocked_ = false;
  std::optional<siginfo_t> waiting_;  // a blocked SIGTRAP
  bool sent_again_ = false;           // it is on its way to the thread
  bool act_changed_ = false;          // in the program's memory, while in rt_sigaction
};

}  // namespace pmusim::trace

#endif
