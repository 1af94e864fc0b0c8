// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_TRAP_THREAD_H
#define PMUSIM_SRC_TRAP_THREAD_H

#include <signal.h>

#include <optional>
#include <utility>

#include "pmusim/trap/trap.h"
#include "replay/feeder.h"
#include "trap/code.h"
#include "trap/signal_stack.h"

namespace pmusim::trap {

/// Whether a signal was this thread's emulated CPU at work.
enum class Verdict : u8 { ours, foreign };

/// One thread whose privileged instructions go to a Pmu.
///
/// The machine executes what it can, an instruction at a time while TF is set (`before_` holds the registers
/// before the one that is under way); what it cannot is executed here. Either way the instruction retires
/// afterwards, and then the boundary in front of the next one is passed: that is where a PMI comes.
class Thread {
 public:
  Thread(Pmu& pmu, TrapOptions options);
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  /// The one of the calling thread, or null.
  static Thread* current();
  /// Makes it that, with a stack for its signals. Errors name what the system refused, or the model.
  Result<Done, Error> attach();

  /// The code of `context` raised #GP (SIGSEGV) or #UD (SIGILL).
  Verdict on_fault(ucontext_t& context, int signal);
  /// A single step of it ended.
  Verdict on_step(ucontext_t& context);
  /// A thread that is not attached raised a fault: if by CPUID, which it has been started by one that lets it
  /// fault, it executes it natively from now on.
  static Verdict fault_of_another(const siginfo_t& info, const ucontext_t& context);
  /// Other code is going to handle a signal. Returns whether the code is stepped: it is no more if he
  /// jumps out of his handler.
  bool before_foreign() { return std::exchange(stepping_, false); }
  /// He has returned, and may have changed where the code goes on.
  void after_foreign(ucontext_t& context, bool stepped);

  Pmu& pmu() { return pmu_; }
  bool stepping() const { return stepping_; }
  u64 retired() const { return retired_; }
  bool interrupts_enabled() const { return interrupts_; }
  bool traps_cpuid() const { return traps_cpuid_; }

 private:
  void control(u64 request, Registers& registers);
  bool steps() const { return stepping_ && nesting_ == 0; }
  Cpl cpl() const { return steps() ? cpl_ : Cpl::kernel; }
  /// Whether the code goes on where `registers` say; false: its fault is the process's own.
  bool emulate(const Code& code, Registers& registers);
  bool emulate_aside(const Code& code, Registers& registers);
  bool after_fault(Fault fault, const Code& code, const Registers& before, Registers& registers);

  Fault execute(const Code& code, Registers& registers);
  Fault execute_privileged(const Code& code, Registers& registers);
  Fault execute_quiet(const Code& code, Registers& registers);
  Fault execute_transactional(const Code& code, Registers& registers) const;
  observed::AccessFault access_fault(const Code& code, const Registers& registers) const;
  Fault move_state(const Code& code, const Registers& registers);
  void push_flags(Registers& registers) const;
  void pop_flags(Registers& registers);

  void retire_executed(const Registers& after);
  void retire(const Code& code, const Registers& before, const Registers& after);
  void retire(const x86::Instruction& instruction, const Registers& before, const Registers& after);
  void retire_flat(const x86::Instruction& instruction, std::span<const MemoryAccess> accesses,
                   const Registers& after);
  void retire_in_core(const x86::Instruction& instruction, std::span<const MemoryAccess> accesses,
                      u64 iterations, const Registers& after);
  void abort_transaction(const x86::Instruction& begin, const Registers& after);
  void prepare(Registers& registers);
  void pass_boundary(const Registers& registers);
  Registers as_seen(Registers registers) const;
  template <class Call>
  void in_pmu(Call call);

  Pmu& pmu_;
  TrapOptions options_;
  SignalStack stack_;
  std::optional<Feeder> core_;  // if its timing was asked for
  trace::Block block_;          // of one instruction, for it
  u64 fs_base_ = 0, gs_base_ = 0;
  bool traps_cpuid_ = false;

  bool stepping_ = false;
  Cpl cpl_ = Cpl::kernel;
  Registers before_;
  std::optional<Registers> repeating_since_;  // before the first iteration of a string instruction
  u64 retired_ = 0;
  bool interrupts_ = true;  // RFLAGS.IF
  unsigned shadowed_ = 0;   // retirements that STI holds interrupts back over: its own and the next
  int nesting_ = 0;         // calls into the Pmu, whose handlers do not retire
};

}  // namespace pmusim::trap

#endif
