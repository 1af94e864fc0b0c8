#ifndef PMUSIM_TRACE_TRACEE_H
#define PMUSIM_TRACE_TRACEE_H

#include <sys/user.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pmusim/base/bus.h"
#include "pmusim/base/error.h"

/// The system calls that the recorder makes on the threads it traces.
namespace pmusim::trace {

inline constexpr u64 trap_flag = u64{1} << 8;  // RFLAGS.TF, set while a thread is stepped

/// General registers and segment bases of a stopped thread.
struct ThreadState {
  Registers registers;  // without the trap flag
  u64 fs_base = 0, gs_base = 0;
  u64 code_segment = 0;
};

/// Starts `command` stopped at its first instruction (a PTRACE_EVENT_EXEC stop), with address space layout
/// randomisation off, its threads and children traced as they start. Errors: cannot be started, or not
/// traced.
Result<u32, Error> start_traced(const std::vector<std::string>& command);

/// Executes one instruction of a stopped thread, delivering `signal` first unless it is 0. False if the
/// thread is gone; its exit is then to be waited for.
bool single_step(u32 tid, int signal);

/// Of a stopped thread; nothing if it was killed meanwhile.
std::optional<ThreadState> thread_state(u32 tid);
/// Clears the trap flag that a SYSCALL leaves in R11.
void hide_trap_flag_in_r11(u32 tid);
/// Clears it in a flags image that a PUSHF left at `address`.
void hide_trap_flag_at(u32 tid, u64 address);

/// The value that comes with a PTRACE_EVENT stop: the new thread, or the former id at an exec.
u32 event_message(u32 tid);
/// si_code of the signal that stopped the thread.
std::optional<int> signal_code(u32 tid);

/// As many of `out.size()` bytes at `address` as can be read without a gap.
std::size_t read_memory(u32 pid, u64 address, std::span<std::byte> out);

/// A file of /proc/ID; empty if it is gone.
std::string proc_file(u32 id, const char* name);
/// True if a handler is installed for the signal.
bool has_handler(u32 tid, int signal);
/// The process that a thread belongs to.
u32 process_of(u32 tid);

}  // namespace pmusim::trace

#endif
