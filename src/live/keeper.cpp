// SPDX-License-Identifier: MIT
#include "live/keeper.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>

#include "live/processes.h"

namespace pmusim::live {
namespace {

/// What the process that keeps the others does. Two descriptors are all that it has open.
class Keeping {
 public:
  static constexpr int socket = 0, child_signals = 1;

  explicit Keeping(u32 program) : program_(program) {}

  void run() const {
    ::send(socket, &program_, sizeof program_, MSG_NOSIGNAL);
    while (!supervisor_ends()) reap();
    char word = 0;
    if (::recv(socket, &word, sizeof word, MSG_DONTWAIT) == sizeof word) terminate_all();
    kill_all();
  }

 private:
  static constexpr int patience_ms = 1000, look_ms = 20;

  /// Waits for that or for a child.
  static bool supervisor_ends() {
    std::array<pollfd, 2> sources{pollfd{socket, POLLIN, 0}, pollfd{child_signals, POLLIN, 0}};
    ::poll(sources.data(), sources.size(), -1);
    if (sources[1].revents != 0) take_child_signal();
    return sources[0].revents != 0;
  }
  static void take_child_signal() {
    signalfd_siginfo info{};
    (void)!::read(child_signals, &info, sizeof info);
  }
  /// How long it was waited in vain.
  static int wait_for_child() {
    pollfd children{child_signals, POLLIN, 0};
    if (::poll(&children, 1, look_ms) == 0) return look_ms;
    take_child_signal();
    return 0;
  }

  /// False once there is no child left.
  bool reap() const {
    int status = 0;
    pid_t child = 0;
    while ((child = ::waitpid(-1, &status, WNOHANG)) > 0)
      if (static_cast<u32>(child) == program_) ::send(socket, &status, sizeof status, MSG_NOSIGNAL);
    return child == 0;
  }

  static void signal_all(int signal) {
    for (const u32 pid : descendants_of(static_cast<u32>(::getpid())))
      ::kill(static_cast<pid_t>(pid), signal);
  }

  void terminate_all() const {
    if (!reap()) return;
    for (const int signal : {SIGTERM, SIGCONT}) signal_all(signal);
    for (int ms = 0; ms < patience_ms && reap();) ms += wait_for_child();
  }
  /// One that cannot be signalled, or does not end, is left.
  void kill_all() const {
    for (int ms = 0; ms < patience_ms && reap(); ms += wait_for_child()) signal_all(SIGKILL);
  }

  u32 program_;
};

/// Signals are for the program and its supervisor: what a terminal sends to all does not concern this
/// process.
[[noreturn]] void keep(const FileDescriptor& socket, const std::function<void(u32)>& become) {
  sigset_t all, before, child;
  ::sigfillset(&all);
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto keeper = static_cast<u32>(::getpid());
  const pid_t program = ::fork();
  if (program < 0) ::_exit(1);
  if (program == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    become(keeper);
  }
  // Readers of pipes would wait for this process to close them.
  ::dup2(socket.number(), Keeping::socket);
  ::syscall(SYS_close_range, 1, ~0U, 0);
  if (::signalfd(-1, &child, SFD_NONBLOCK) == Keeping::child_signals)
    Keeping(static_cast<u32>(program)).run();
  ::_exit(0);
}

}  // namespace

Result<Keeper, Error> Keeper::start(const std::function<void(u32)>& become) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Failure(Error("cannot make a socket"));
  FileDescriptor ours(ends[0]), theirs(ends[1]);
  const pid_t keeper = ::fork();
  if (keeper < 0) return Failure(Error(fmt::format("cannot start a process: {}", std::strerror(errno))));
  if (keeper == 0) {
    ours = FileDescriptor();
    keep(theirs, become);
  }
  theirs = FileDescriptor();
  u32 program = 0;
  ssize_t bytes = 0;
  do bytes = ::recv(ours.number(), &program, sizeof program, 0);
  while (bytes < 0 && errno == EINTR);
  if (bytes != sizeof program) {
    ::waitpid(keeper, nullptr, 0);
    return Failure(Error("cannot start a process"));
  }
  return Keeper(std::move(ours), static_cast<u32>(keeper), program);
}

Keeper::~Keeper() {
  if (!socket_) return;
  ::send(socket_.number(), "", 1, MSG_NOSIGNAL);
  socket_ = FileDescriptor();
  while (::waitpid(static_cast<pid_t>(keeper_), nullptr, 0) < 0 && errno == EINTR) {
  }
}

int Keeper::status() const {
  int status = 0;
  ssize_t bytes = 0;
  do bytes = ::recv(socket_.number(), &status, sizeof status, 0);
  while (bytes < 0 && errno == EINTR);
  return bytes == sizeof status ? status : SIGKILL;  // it has been killed, and the program with it
}

}  // namespace pmusim::live
