// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_DISGUISE_H
#define PMUSIM_TRACE_DISGUISE_H

#include <sched.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>

#include "trace/tracee.h"

namespace pmusim::trace {

/// Keeps from a thread what tracing changes of it: its CPUs, and what becomes of its SIGTRAP.
///
/// A step ends in a SIGTRAP that the kernel forces: where the thread blocks or ignores that signal, it would
/// be unblocked and its disposition reset (force_sig_info). So while a thread runs, SIGTRAP is neither
/// blocked nor ignored in the kernel, and remembered here if the program thinks so. System calls run without
/// steps: around them the kernel has the truth, and whatever they do with it is right.
class Disguise {
 public:
  /// SIGTRAP as the processes' dispositions have it; threads of a process share it, as the kernel's are.
  struct Disposition {
    bool trap_ignored = false;
  };

  /// Of a first thread; `cpus` are those that it would have without the recorder.
  Disguise(const cpu_set_t& cpus, Disposition disposition)
      : cpus_(cpus), disposition_(std::make_shared<Disposition>(disposition)) {}
  /// Of a thread that this one starts.
  Disguise of_thread() const;
  Disguise of_process() const;

  /// At the stops before and after a system call, whose number and arguments are in the registers.
  void enter_call(u32 tid, u64 number, const Registers& registers);
  void leave_call(u32 tid, u64 number, const Registers& registers);

  /// Lets the kernel see the signal mask as the program has it: a signal's frame is about to be made of it.
  void show_mask(u32 tid) const;
  /// Takes SIGTRAP out of the mask again, before the next step.
  void hide_mask(u32 tid);

  /// Whether a SIGTRAP that somebody sent is to be kept back: it is ignored, or blocked (it then waits).
  bool keeps_back_trap(u32 tid);
  /// At a SIGTRAP stop: gives it back the sender that it had when it was kept back.
  void restore_sender(u32 tid);

 private:
  void enter_sigaction(u32 tid, const Registers& registers);
  void leave_sigaction(u32 tid, const Registers& registers);
  void enter_setaffinity(u32 tid, const Registers& registers);
  void leave_getaffinity(u32 tid, const Registers& registers) const;

  cpu_set_t cpus_;
  std::shared_ptr<Disposition> disposition_;
  bool trap_blocked_ = false;
  std::optional<siginfo_t> waiting_;  // a blocked SIGTRAP
  bool sent_again_ = false;           // it is on its way to the thread
  bool act_changed_ = false;          // in the program's memory, while in rt_sigaction
  std::optional<i64> result_;         // of a call that is not made
};

/// The program of a process if it is setuid, setgid or has capabilities, and runs without these rights
/// because it is traced.
std::optional<std::string> program_without_rights(u32 pid);

}  // namespace pmusim::trace

#endif
