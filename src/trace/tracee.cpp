// SPDX-License-Identifier: MIT
#include "trace/tracee.h"

#include <cpuid.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "trace/lost_trap.h"

namespace pmusim::trace {
namespace {

constexpr long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;

void* data_of(long value) { return reinterpret_cast<void*>(value); }

// Between fork and exec: only what is safe there. Reports an errno through `report`, a close-on-exec pipe.
[[noreturn]] void become(char* const* arguments, const ProgramLimits& limits, pid_t recorder, int report) {
  set_limits(limits);
  // Until the recorder has set PTRACE_O_EXITKILL its end would leave a stopped process behind.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != recorder) ::_exit(127);
  const int previous = ::personality(0xFFFFFFFF);
  ::personality(static_cast<unsigned long>(previous) | ADDR_NO_RANDOMIZE);
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) {
    ::raise(SIGSTOP);
    ::prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
    ::execvp(arguments[0], arguments);
  }
  const int error_number = errno;
  (void)!::write(report, &error_number, sizeof error_number);
  ::_exit(127);
}

// Waits for the exec; the errno of what failed otherwise.
int wait_for_exec(pid_t child, int report) {
  int status = 0;
  wait_on(child, status, 0);
  if (WIFSTOPPED(status) && ::ptrace(PTRACE_SETOPTIONS, child, nullptr, data_of(options)) == 0) {
    ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
    wait_on(child, status, 0);
  }
  if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC) return 0;
  int error_number = EPERM;
  (void)!::read(report, &error_number, sizeof error_number);
  ::kill(child, SIGKILL);
  wait_on(child, status, 0);
  return error_number;
}

// What follows "NAME:" in a /proc status file; nothing if the thread is gone.
std::istringstream status_from(u32 tid, std::string_view name) {
  const std::string text = proc_file(tid, "status");
  const std::size_t at = text.find(name);
  return std::istringstream(at == std::string::npos ? "" : text.substr(at + name.size()));
}

u64 status_field(u32 tid, std::string_view name, std::ios_base& (&base)(std::ios_base&)) {
  u64 value = 0;
  status_from(tid, name) >> base >> value;
  return value;
}

}  // namespace

pid_t wait_on(pid_t tid, int& status, int flags) {
  while (true) {
    const pid_t got = ::waitpid(tid, &status, flags);
    if (got >= 0 || errno != EINTR) return got;
  }
}

Result<u32, Error> start_traced(const std::vector<std::string>& command, const ProgramLimits& limits) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return Failure(Error("cannot make a pipe"));
  const pid_t recorder = ::getpid(), child = ::fork();
  if (child == 0) become(arguments.data(), limits, recorder, report[1]);
  ::close(report[1]);
  const int error_number = child < 0 ? errno : wait_for_exec(child, report[0]);
  ::close(report[0]);
  if (error_number == 0) return static_cast<u32>(child);
  return Failure(
      Error(fmt::format("{}: cannot be started: {}", command.front(), std::strerror(error_number))));
}

void single_step(u32 tid, int signal) { ::ptrace(PTRACE_SINGLESTEP, tid, nullptr, data_of(signal)); }

namespace {

bool trap_is_lost(std::span<const std::byte> code) {
  constexpr std::array cpuid{std::byte{0x0F}, std::byte{0xA2}};
  return std::ranges::equal(code, cpuid) && loses_trap_behind_cpuid();
}

}  // namespace

bool traps_behind(const LiveInstruction& live, bool own_trap_flag) {
  return live.raises_trap || (own_trap_flag && !trap_is_lost(live.code()));
}

bool execute_cpuid(u32 tid, std::span<const std::byte> code) {
  user_regs_struct r{};
  if (!trap_is_lost(code) || ::ptrace(PTRACE_GETREGS, tid, nullptr, &r) != 0) return false;
  unsigned a = 0, b = 0, c = 0, d = 0;
  __cpuid_count(static_cast<unsigned>(r.rax), static_cast<unsigned>(r.rcx), a, b, c, d);
  r.rax = a, r.rbx = b, r.rcx = c, r.rdx = d;
  r.rip += code.size();
  return ::ptrace(PTRACE_SETREGS, tid, nullptr, &r) == 0;
}

void run_to_call(u32 tid, int signal) { ::ptrace(PTRACE_SYSCALL, tid, nullptr, data_of(signal)); }

void run_freely(u32 tid, int signal) { ::ptrace(PTRACE_CONT, tid, nullptr, data_of(signal)); }

void ask_to_stop(u32 tid) { ::syscall(SYS_tgkill, process_of(tid), tid, SIGSTOP); }

Result<std::set<u32>, Error> attach(u32 pid) {
  std::set<u32> attached;
  for (bool found_new = true; found_new;) {  // threads may start others meanwhile
    found_new = false;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), gone)) {
      const auto tid = static_cast<u32>(std::strtoul(entry.path().filename().c_str(), nullptr, 10));
      if (attached.contains(tid)) continue;
      if (::ptrace(PTRACE_ATTACH, tid, nullptr, nullptr) != 0) {
        if (errno == ESRCH) continue;
        const int error_number = errno;
        for (const u32 other : attached) let_go(other, 0);
        return Failure(
            Error(fmt::format("process {}: cannot be traced: {}", pid, std::strerror(error_number))));
      }
      int status = 0;
      wait_on(static_cast<pid_t>(tid), status, __WALL);
      spare(tid);
      attached.insert(tid);
      found_new = true;
    }
  }
  if (attached.empty()) return Failure(Error(fmt::format("process {}: there is no such process", pid)));
  return attached;
}

void let_go(u32 tid, int signal) { ::ptrace(PTRACE_DETACH, tid, nullptr, data_of(signal)); }

void spare(u32 tid) {
  ::ptrace(PTRACE_SETOPTIONS, tid, nullptr, data_of(options & ~long{PTRACE_O_EXITKILL}));
}

// As the kernel does it when a call is interrupted and no handler runs (signal(7)): with the same arguments,
// or with restart_syscall where the call keeps its state in the kernel.
void go_back_before_call(u32 tid) {
  constexpr u64 syscall_bytes = 2;
  constexpr i64 restart_block = -516, first_restart = -512, last_restart = -514;
  user_regs_struct r{};
  if (::ptrace(PTRACE_GETREGS, tid, nullptr, &r) != 0 || static_cast<i64>(r.orig_rax) < 0) return;
  const auto result = static_cast<i64>(r.rax);
  const bool repeats = result <= first_restart && result >= last_restart;
  if (!repeats && result != restart_block) return;
  r.rax = repeats ? r.orig_rax : u64{SYS_restart_syscall};
  r.rip -= syscall_bytes;
  r.orig_rax = ~0ull;
  ::ptrace(PTRACE_SETREGS, tid, nullptr, &r);
}

void set_instruction_pointer(u32 tid, u64 address) {
  ::ptrace(PTRACE_POKEUSER, tid, offsetof(user_regs_struct, rip), data_of(static_cast<long>(address)));
}

std::optional<ThreadState> thread_state(u32 tid) {
  user_regs_struct r{};
  if (::ptrace(PTRACE_GETREGS, tid, nullptr, &r) != 0) return std::nullopt;
  ThreadState state;
  state.registers.gpr = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
                         r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
  state.registers.rip = r.rip;
  state.registers.rflags = r.eflags & ~trap_flag;
  state.fs_base = r.fs_base;
  state.gs_base = r.gs_base;
  state.code_segment = r.cs;
  state.trap_flag_shown = (r.eflags & trap_flag) != 0;
  return state;
}

void hide_trap_flag_at(u32 tid, u64 address) {
  u16 flags = 0;
  const auto bytes = std::as_writable_bytes(std::span(&flags, 1));
  if (read_memory(tid, address, bytes) != bytes.size()) return;
  flags = static_cast<u16>(flags & ~trap_flag);
  write_memory(tid, address, bytes);
}

void hide_trap_flag_in_frame(u32 tid, u64 rsp) {
  // The return address, then the ucontext with RFLAGS in its sigcontext.
  hide_trap_flag_at(tid, rsp + 8 + offsetof(ucontext_t, uc_mcontext.gregs[REG_EFL]));
}

u32 event_message(u32 tid) {
  unsigned long message = 0;
  ::ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &message);
  return static_cast<u32>(message);
}

std::optional<siginfo_t> signal_info(u32 tid) {
  siginfo_t info{};
  if (::ptrace(PTRACE_GETSIGINFO, tid, nullptr, &info) != 0) return std::nullopt;
  return info;
}

void set_signal_info(u32 tid, const siginfo_t& info) {
  siginfo_t copy = info;
  ::ptrace(PTRACE_SETSIGINFO, tid, nullptr, &copy);
}

// Asking costs a system call, so it is asked only where a sent one is possible.
bool is_of_step(u32 tid, const Registers& before, const Registers& after) {
  if (after.rip != before.rip) return true;
  const auto info = signal_info(tid);
  return !info || info->si_code == TRAP_TRACE || info->si_code == TRAP_BRKPT;
}

u64 signal_mask(u32 tid) {
  u64 mask = 0;
  ::ptrace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask);
  return mask;
}

void set_signal_mask(u32 tid, u64 mask) { ::ptrace(PTRACE_SETSIGMASK, tid, sizeof mask, &mask); }

void send_trap(u32 tid) { ::syscall(SYS_tgkill, process_of(tid), tid, SIGTRAP); }

void skip_call(u32 tid) { ::ptrace(PTRACE_POKEUSER, tid, offsetof(user_regs_struct, orig_rax), data_of(-1)); }

void set_call_result(u32 tid, i64 result) {
  ::ptrace(PTRACE_POKEUSER, tid, offsetof(user_regs_struct, rax), data_of(result));
}

std::size_t read_memory(u32 pid, u64 address, std::span<std::byte> out) {
  constexpr u64 page = 4096;
  std::size_t done = 0;
  while (done < out.size()) {
    const u64 at = address + done;
    const std::size_t bytes = std::min<std::size_t>(out.size() - done, page - at % page);
    iovec local{out.data() + done, bytes};
    iovec remote{reinterpret_cast<void*>(at), bytes};
    if (::process_vm_readv(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0) != static_cast<ssize_t>(bytes))
      break;
    done += bytes;
  }
  return done;
}

void clear_trap_flag(u32 tid, u64 flags) {
  ::ptrace(PTRACE_POKEUSER, tid, offsetof(user_regs_struct, eflags),
           data_of(static_cast<long>(flags & ~trap_flag)));
}

bool write_memory(u32 pid, u64 address, std::span<const std::byte> bytes) {
  iovec local{const_cast<std::byte*>(bytes.data()), bytes.size()};
  iovec remote{reinterpret_cast<void*>(address), bytes.size()};
  return ::process_vm_writev(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(bytes.size());
}

void poke(u32 tid, u64 address, u64 word) {
  ::ptrace(PTRACE_POKEDATA, tid, address, data_of(static_cast<long>(word)));
}

void poke_byte(u32 tid, u64 address, std::byte byte) {
  constexpr u64 word_bytes = sizeof(long);
  const u64 place = address / word_bytes * word_bytes;  // within a page
  errno = 0;
  long word = ::ptrace(PTRACE_PEEKDATA, tid, place, nullptr);
  if (errno != 0) return;
  std::memcpy(reinterpret_cast<std::byte*>(&word) + (address - place), &byte, 1);
  ::ptrace(PTRACE_POKEDATA, tid, place, data_of(word));
}

std::string proc_file(u32 id, const char* name) {
  std::ifstream in(fmt::format("/proc/{}/{}", id, name));
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

bool has_handler(u32 tid, int signal) {
  return (status_field(tid, "SigCgt:", std::hex) >> (signal - 1) & 1) != 0;
}
bool ignores(u32 tid, int signal) {
  return (status_field(tid, "SigIgn:", std::hex) >> (signal - 1) & 1) != 0;
}

std::string command_of(u32 tid) {
  std::string name = proc_file(tid, "comm");
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

u64 effective_id(u32 pid, std::string_view which) {
  u64 real = 0, effective = 0;
  status_from(pid, which) >> real >> effective;
  return effective;
}

u32 process_of(u32 tid) {
  const u64 pid = status_field(tid, "Tgid:", std::dec);
  return pid != 0 ? static_cast<u32>(pid) : tid;
}

}  // namespace pmusim::trace
