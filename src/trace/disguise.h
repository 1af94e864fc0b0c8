// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_DISGUISE_H
#define PMUSIM_TRACE_DISGUISE_H

#include <sched.h>

#include <optional>
#include <string>

#include "trace/trap_disguise.h"

namespace pmusim::trace {

/// Keeps from a thread what recording changes of it: its CPUs, and what becomes of its SIGTRAP.
class Disguise : public TrapDisguise {
 public:
  /// Of a first thread; `cpus` are those that it would have without the recorder.
  Disguise(const cpu_set_t& cpus, Disposition disposition) : Disguise(cpus, TrapDisguise(disposition)) {}
  /// Of a thread that this one starts.
  Disguise of_thread() const { return {cpus_, TrapDisguise::of_thread()}; }
  Disguise of_process() const { return {cpus_, TrapDisguise::of_process()}; }

  /// At the stops before and after a system call, whose number and arguments are in the registers.
  void enter_call(u32 tid, u64 number, const Registers& registers);
  void leave_call(u32 tid, u64 number, const Registers& registers);

 private:
  Disguise(const cpu_set_t& cpus, const TrapDisguise& trap) : TrapDisguise(trap), cpus_(cpus) {}
  void enter_setaffinity(u32 tid, const Registers& registers);
  void leave_getaffinity(u32 tid, const Registers& registers) const;

  cpu_set_t cpus_;
  std::optional<i64> result_;  // of a call that is not made
};

/// The program of a process if it is setuid, setgid or has capabilities, and runs without these rights
/// because it is traced.
std::optional<std::string> program_without_rights(u32 pid);

}  // namespace pmusim::trace

#endif
