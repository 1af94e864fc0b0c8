// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_TRACE_SYNTHETIC_KERNEL_H
#define PMUSIM_SRC_TRACE_SYNTHETIC_KERNEL_H

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// Code that stands for a kernel: an entry for system calls, with a function for each that they call, and
/// entries for the timer's interrupt and for exceptions. What its instructions do to registers is known, and
/// so is where they go.
class SyntheticKernel {
 public:
  enum class Entry : u8 { system_call, tick, signal };
  /// What an instruction does, as far as it matters.
  enum class Effect : u8 {
    nothing,
    push,
    pop,            ///< a register takes the value back that it had in user mode
    set,            ///< a register becomes `value`
    add,            ///< or more by it
    count_down,     ///< or less by one, with the flags
    go_back,        ///< a jump to `value` while that has not led to 0
    leave_by_iret,  ///< a jump to `value` if the program does not go on behind its system call
    enter_stack,    ///< from user mode's to the kernel's
    leave_stack,
    call,          ///< of `value`
    call_handler,  ///< of the system call's function
    ret,
    leave,  ///< the kernel
  };
  struct Step {
    u64 ip = 0;
    u8 length = 0;
    Effect effect = Effect::nothing;
    Gpr reg = Gpr::rax;
    u64 value = 0;
  };
  struct Symbol {
    u64 address = 0;
    char type = 't';
    std::string name;
  };

  static constexpr u64 text = 0xFFFF'FFFF'8100'0000;  // without KASLR
  static constexpr u64 gs_base = 0xFFFF'8882'37C0'0000;

  /// Its entries take so many instructions (`tick_every` does not matter).
  explicit SyntheticKernel(const KernelEntries& entries);

  u64 entry(Entry which) const { return entries_[static_cast<std::size_t>(which)]; }
  /// The function of a system call; that of a number that there is none of is all those' own.
  u64 handler(u64 number) const;
  u64 end() const { return text + code_.size(); }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  /// Another for each length of its functions.
  std::vector<u8> build_id() const;

  /// That of the instruction at an address of its.
  const Step& step(u64 ip) const { return steps_[step_at_.at(ip)]; }
  /// Of at most so many bytes those that are there.
  std::span<const std::byte> code(u64 address, std::size_t bytes) const;

  static bool is_branch(Effect effect);

  /// How many instructions an entry takes at least.
  static u32 shortest(Entry which);

 private:
  /// How often a function's loop runs, and how much is behind it.
  struct Work {
    u32 rounds = 1, rest = 0;
  };
  explicit SyntheticKernel(const std::array<Work, 3>& work) { lay_out(work); }
  static Work work_for(Entry which, u32 instructions);

  u64 here() const { return text + code_.size(); }
  void begin(std::string name);
  void emit(std::initializer_list<u8> bytes, Effect effect = Effect::nothing, Gpr reg = Gpr::rax,
            u64 value = 0);
  void push(Gpr reg);
  void pop(Gpr reg);
  void call(u64 function);
  void save_registers();
  void restore_registers();
  void return_by_iret();
  u64 function(const std::string& name, u64 data, Work work);
  u64 system_call_function();
  u64 system_call_entry(u64 function);
  u64 interrupt_entry(const std::string& name, u64 function);
  void lay_out(const std::array<Work, 3>& work);

  std::vector<std::byte> code_;  // from `text` on
  std::vector<Step> steps_;
  std::unordered_map<u64, u32> step_at_;
  std::vector<Symbol> symbols_;
  std::unordered_map<u64, u64> handlers_;  // by number
  u64 no_handler_ = 0;
  std::array<u64, 3> entries_{};
};

/// One entry into it, block by block.
class KernelPath {
 public:
  struct Call {
    SyntheticKernel::Entry entry = SyntheticKernel::Entry::system_call;
    u64 number = 0;      ///< of a system call
    u64 stack = 0;       ///< where the thread's in the kernel begins
    Registers user;      ///< as the kernel finds them; `rip`: where the program would go on
    Registers returned;  ///< as it leaves them; `rip`: where the program goes on
    bool returns = true;
  };
  KernelPath(const SyntheticKernel& kernel, const Call& call);

  bool over() const { return over_; }
  /// Of the next block.
  u64 ip() const { return registers_.rip; }
  /// Executes it.
  void execute(const Block& block);

  /// The same of one instruction.
  void step();

  // What the block that was executed last did.
  const std::vector<u64>& addresses() const { return addresses_; }
  const std::vector<Registers>& registers() const { return after_; }
  u64 next_ip() const { return registers_.rip; }
  Cpl next_ring() const { return in_user_ ? Cpl::user : Cpl::kernel; }

 private:
  void apply(const SyntheticKernel::Step& step);

  const SyntheticKernel& kernel_;
  Call call_;
  Registers registers_;
  std::vector<u64> returns_;
  bool over_ = false, in_user_ = false;
  std::vector<u64> addresses_;
  std::vector<Registers> after_;
};

}  // namespace pmusim::trace

#endif
