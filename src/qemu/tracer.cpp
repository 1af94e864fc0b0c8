// SPDX-License-Identifier: MIT
#include "qemu/tracer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

#include "trace/tracee.h"

namespace pmusim::qemu {
namespace {

constexpr long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                         PTRACE_O_TRACECLONE | PTRACE_O_TRACESECCOMP;

void* data_of(long value) { return reinterpret_cast<void*>(value); }

/// Stops at execve and execveat; hides the recorder's two descriptors from close and dup2, with which
/// programs make sure that nothing is open.
bool install_filter(u32 highest) {
  const u32 trace = SECCOMP_RET_TRACE, allow = SECCOMP_RET_ALLOW;
  const u32 pretend = SECCOMP_RET_ERRNO | EBADF, unknown = SECCOMP_RET_ERRNO | ENOSYS;
  const u32 number_at = offsetof(seccomp_data, nr), first_at = offsetof(seccomp_data, args),
            second_at = first_at + sizeof(u64);
  std::array filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      sock_filter BPF_STMT(BPF_RET | BPF_K, allow),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number_at),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 11, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 10, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 10, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close, 4, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup2, 1, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup3, 0, 5),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, second_at),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first_at),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, highest - 1, 0, 1),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, highest, 0, 3),
      sock_filter BPF_STMT(BPF_RET | BPF_K, allow),
      sock_filter BPF_STMT(BPF_RET | BPF_K, trace),
      sock_filter BPF_STMT(BPF_RET | BPF_K, unknown),
      sock_filter BPF_STMT(BPF_RET | BPF_K, pretend),
  };
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

// Between fork and exec: only what is safe there. Waits for its tracer, and reports an errno through
// `report`.
[[noreturn]] void become(char* const* arguments, const trace::ProgramLimits& limits, Tracer::Descriptors open,
                         int highest, int go, int report) {
  trace::set_limits(limits);
  char token = 0;
  const int former = ::personality(0xFFFFFFFF);
  ::personality(static_cast<unsigned long>(former) | ADDR_NO_RANDOMIZE);
  if (::read(go, &token, 1) == 1 && ::dup2(open.socket, highest) == highest &&
      (open.memory < 0 || ::dup2(open.memory, highest - 1) == highest - 1) &&
      install_filter(static_cast<u32>(highest))) {
    ::execvp(arguments[0], arguments);
  }
  const int error_number = errno;
  (void)!::write(report, &error_number, sizeof error_number);
  ::_exit(127);
}

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() { (void)!::pipe2(ends.data(), O_CLOEXEC); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (int n : {0, 1}) close(n);
  }
  void close(int n) {
    if (ends[static_cast<std::size_t>(n)] >= 0) ::close(std::exchange(ends[static_cast<std::size_t>(n)], -1));
  }
};

}  // namespace

Tracer::~Tracer() {
  kill_all();
  if (report_ >= 0) ::close(report_);
}

int Tracer::start_error() const {
  int error_number = 0;
  return ::read(report_, &error_number, sizeof error_number) == sizeof error_number ? error_number : 0;
}

Result<Done, Error> Tracer::start(const std::vector<std::string>& command, const trace::ProgramLimits& limits,
                                  Descriptors open, int highest) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  Pipe go, report;
  const pid_t child = ::fork();
  if (child == 0) {
    go.close(1);  // so that the wait ends if the recorder does
    become(arguments.data(), limits, open, highest, go.ends[0], report.ends[1]);
  }
  report.close(1);
  int error_number = child < 0 ? errno : 0;
  if (child > 0 && ::ptrace(PTRACE_SEIZE, child, nullptr, data_of(options)) != 0) {
    error_number = errno;
    ::kill(child, SIGKILL);
  }
  if (error_number != 0)
    return Failure(Error(fmt::format("cannot trace a program here: {}", std::strerror(error_number))));
  first_ = static_cast<u32>(child);
  threads_.insert(first_);
  report_ = std::exchange(report.ends[0], -1);
  (void)!::write(go.ends[1], "g", 1);
  return Done{};
}

bool Tracer::follow() {
  int status = 0;
  const pid_t tid = ::waitpid(-1, &status, __WALL);
  if (tid < 0) return errno == EINTR;
  if (WIFSTOPPED(status)) {
    stopped(static_cast<u32>(tid), status);
    return true;
  }
  threads_.erase(static_cast<u32>(tid));
  if (static_cast<u32>(tid) == first_) first_status_ = status;
  on_exit_({static_cast<u32>(tid), status});
  return true;
}

void Tracer::stopped(u32 tid, int status) {
  threads_.insert(tid);
  const int event = status >> 16;
  if (event == PTRACE_EVENT_STOP && trace::stops_programs(WSTOPSIG(status))) {
    ::ptrace(PTRACE_LISTEN, tid, nullptr, nullptr);
    return;
  }
  if (event == PTRACE_EVENT_SECCOMP && rewrite_exec(tid, emulation_) == Rewritten::as_it_is) ++unrecorded_;
  const int signal = event == 0 ? WSTOPSIG(status) : 0;
  ::ptrace(PTRACE_CONT, tid, nullptr, data_of(signal));
}

void Tracer::kill_all() {
  for (const u32 tid : threads_) ::kill(static_cast<pid_t>(tid), SIGKILL);
  for (int status = 0; !threads_.empty();) {
    const pid_t tid = ::waitpid(-1, &status, __WALL);
    if (tid < 0 && errno != EINTR) break;
    if (tid > 0 && !WIFSTOPPED(status)) threads_.erase(static_cast<u32>(tid));
  }
  threads_.clear();
}

}  // namespace pmusim::qemu
