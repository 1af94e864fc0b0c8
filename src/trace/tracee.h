// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_TRACEE_H
#define PMUSIM_TRACE_TRACEE_H

#include <sys/user.h>

#include <csignal>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/bus.h"
#include "pmusim/base/types.h"
#include "trace/live_code.h"
#include "trace/program_limits.h"

/// The system calls that the recorder makes on the threads it traces.
namespace pmusim::trace {

inline constexpr u64 trap_flag = u64{1} << 8;  // RFLAGS.TF, set while a thread is stepped

/// General registers and segment bases of a stopped thread.
struct ThreadState {
  Registers registers;  // without the trap flag
  u64 fs_base = 0, gs_base = 0;
  u64 code_segment = 0;
  bool trap_flag_shown = false;  // by the kernel, which is in doubt whose it is after a POPF
};

/// waitpid that no signal of the recorder's own interrupts.
pid_t wait_on(pid_t tid, int& status, int flags);

/// Starts `command` stopped at its first instruction (a PTRACE_EVENT_EXEC stop), with address space layout
/// randomisation off, its threads and children traced as they start. Errors: cannot be started, or not
/// traced.
Result<u32, Error> start_traced(const std::vector<std::string>& command, const ProgramLimits& limits);

/// Executes one instruction of a stopped thread, delivering `signal` first unless it is 0. If the thread is
/// gone, its exit is to be waited for.
void single_step(u32 tid, int signal);
/// What a step of `code` would do, done here where that is CPUID and this machine loses its trap. False:
/// step.
bool execute_cpuid(u32 tid, std::span<const std::byte> code);
/// Whether the program itself gets a trap behind the instruction: it raises one, or the program steps itself
/// (`own_trap_flag`), where that trap is not lost.
bool traps_behind(const LiveInstruction& live, bool own_trap_flag);
/// Lets a thread run up to the stop before the system call that it is about to make, or after the one that it
/// is in. No trap flag is set meanwhile, and no SIGTRAP forced.
void run_to_call(u32 tid, int signal);
/// The signal of such a stop.
inline constexpr int call_stop = SIGTRAP | 0x80;
/// What a program that is not traced is stopped by.
constexpr bool stops_programs(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/// Lets a thread run until something happens to it.
void run_freely(u32 tid, int signal);
/// Sends a thread the SIGSTOP whose arrival stops it; it is not to be passed on.
void ask_to_stop(u32 tid);

/// Attaches to all threads of a running process, as if it had been started traced, but that it outlives the
/// recorder. All of them are stopped then. Errors: no such process, not permitted.
Result<std::set<u32>, Error> attach(u32 pid);
/// A stopped thread goes on untraced, as if nothing had been.
void let_go(u32 tid, int signal);
/// Traced threads outlive the recorder from now on.
void spare(u32 tid);

/// Puts a thread that is stopped within a system call, which the kernel would repeat, before it.
void go_back_before_call(u32 tid);
void set_instruction_pointer(u32 tid, u64 address);

/// Of a stopped thread; nothing if it was killed meanwhile.
std::optional<ThreadState> thread_state(u32 tid);
/// Clears the trap flag in a flags image at `address`.
void hide_trap_flag_at(u32 tid, u64 address);
/// The same in the flags that a signal's handler returns to; `rsp` is as it is entered.
void hide_trap_flag_in_frame(u32 tid, u64 rsp);

/// The value that comes with a PTRACE_EVENT stop: the new thread, or the former id at an exec.
u32 event_message(u32 tid);
/// Of the signal that stopped the thread.
std::optional<siginfo_t> signal_info(u32 tid);
void set_signal_info(u32 tid, const siginfo_t& info);
/// Distinguishes a trap that came with a step's instruction from a SIGTRAP that was sent, which comes before
/// one.
bool is_of_step(u32 tid, const Registers& before, const Registers& after);
/// Signals that the thread blocks, bit N-1 for signal N.
u64 signal_mask(u32 tid);
void set_signal_mask(u32 tid, u64 mask);
/// Sends SIGTRAP to the thread.
void send_trap(u32 tid);

/// ERESTARTSYS and its kin in RAX: the kernel is going to repeat the call. Programs never see them.
constexpr bool is_restart(u64 rax) {
  const i64 result = static_cast<i64>(rax);
  return result <= -512 && result >= -516;
}

/// Arguments of a system call.
inline u64 first_argument(const Registers& r) { return r[Gpr::rdi]; }
inline u64 second_argument(const Registers& r) { return r[Gpr::rsi]; }
inline u64 third_argument(const Registers& r) { return r[Gpr::rdx]; }

/// At the stop before a system call: does not make it.
void skip_call(u32 tid);
/// At the stop after one: what it returns.
void set_call_result(u32 tid, i64 result);

/// As many of `out.size()` bytes at `address` as can be read without a gap.
std::size_t read_memory(u32 pid, u64 address, std::span<std::byte> out);

/// Sets the flags of a stopped thread, the trap flag cleared.
void clear_trap_flag(u32 tid, u64 flags);

bool write_memory(u32 pid, u64 address, std::span<const std::byte> bytes);
/// Writes to read-only memory too.
void poke(u32 tid, u64 address, u64 word);
void poke_byte(u32 tid, u64 address, std::byte byte);

/// A file of /proc/ID; empty if it is gone.
std::string proc_file(u32 id, const char* name);
/// True if a handler is installed for the signal.
bool has_handler(u32 tid, int signal);
/// True if the signal is ignored.
bool ignores(u32 tid, int signal);
/// The name of its program, or what it calls itself.
std::string command_of(u32 tid);
/// The effective one of "Uid:" or "Gid:".
u64 effective_id(u32 pid, std::string_view which);
/// The process that a thread belongs to.
u32 process_of(u32 tid);

}  // namespace pmusim::trace

#endif
