// SPDX-License-Identifier: MIT
#include "live/start.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "live/ptrace.h"
#include "trace/tracee.h"

namespace pmusim::live {
namespace {

/// What the child tells before it becomes the program. The listener comes with `listening`.
struct Message {
  enum class Kind : u8 { listening, no_filter, no_program } kind = Kind::listening;
  int error_number = 0;
  std::array<char, 256> missing{}, missing_registers{};  // as in Shown
  u64 registers = 0;
};

void put(std::array<char, 256>& text, const std::string& sentence) {
  sentence.copy(text.data(), text.size() - 1);
}

/// A message and the descriptor that comes with it.
struct Received {
  Message message;
  FileDescriptor file;
};

union ControlBuffer {  // aligned as the kernel wants it
  char bytes[CMSG_SPACE(sizeof(int))];
  cmsghdr alignment;
};

void send_message(int socket, const Message& message, int file) {
  iovec piece{const_cast<Message*>(&message), sizeof message};
  ControlBuffer control{};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (file >= 0) {
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof control.bytes;
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(rights), &file, sizeof file);
  }
  ::sendmsg(socket, &header, MSG_NOSIGNAL);
}

/// Nothing once the child has become the program, or has gone.
std::optional<Received> receive_message(int socket) {
  Received received;
  iovec piece{&received.message, sizeof received.message};
  ControlBuffer control{};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  ssize_t bytes = 0;
  do bytes = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  while (bytes < 0 && errno == EINTR);
  if (bytes != sizeof received.message) return std::nullopt;
  if (const cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr) {
    int file = -1;
    std::memcpy(&file, CMSG_DATA(rights), sizeof file);
    received.file = FileDescriptor(file);
  }
  return received;
}

/// False if the supervisor has ended instead.
bool wait_for_permission(int socket) {
  char byte = 0;
  ssize_t bytes = 0;
  do bytes = ::recv(socket, &byte, 1, 0);
  while (bytes < 0 && errno == EINTR);
  return bytes == 1;
}

[[noreturn]] void become(const std::vector<std::string>& command, const MachineView& view,
                         const std::string& directory, NumberRange numbers, u32 parent, int socket) {
  Message message;
  const Shown shown = show(view, directory);
  put(message.missing, shown.missing);
  put(message.missing_registers, shown.missing_registers);
  message.registers = shown.registers;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (static_cast<u32>(::getppid()) != parent) ::_exit(1);
  {
    const FileDescriptor listener = install_filter(numbers, view.affinity);
    message.error_number = errno;
    if (!listener) message.kind = Message::Kind::no_filter;
    send_message(socket, message, listener.number());
    if (!listener) ::_exit(1);
  }
  if (!wait_for_permission(socket)) ::_exit(1);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  message.kind = Message::Kind::no_program;
  message.error_number = errno;
  send_message(socket, message, -1);
  ::_exit(127);
}

std::string refusal_of_filter(int error_number) {
  const std::string what = "a seccomp filter with a listener";
  if (error_number == EBUSY) return what + ": there is one already; pmusim run cannot run under itself";
  if (error_number == EINVAL || error_number == ENOSYS) return what + " needs Linux 5.19 or newer";
  return fmt::format(
      "{} is forbidden here ({}): in a container, --security-opt seccomp=unconfined permits it", what,
      std::strerror(error_number));
}

/// Whether the child can be traced: nothing could be counted otherwise.
int try_to_trace(u32 pid) {
  if (const int error = seize(pid, WithoutTracer::killed); error != 0) return error;
  interrupt(pid);
  int status = 0;
  ::waitpid(static_cast<pid_t>(pid), &status, __WALL);
  trace::let_go(pid, 0);
  return 0;
}

/// An empty directory that is gone with the object. What the child mounts there is in its own namespace.
class MountPoint {
 public:
  MountPoint() : path_((std::filesystem::temp_directory_path() / "pmusim-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  MountPoint(const MountPoint&) = delete;
  MountPoint& operator=(const MountPoint&) = delete;
  ~MountPoint() {
    if (!path_.empty()) ::rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Result<Started, Error> start(const std::vector<std::string>& command, const MachineView& view,
                             NumberRange numbers, const sigset_t& signal_mask) {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    return Failure(Error("cannot make a socket"));
  FileDescriptor ours(sockets[0]), theirs(sockets[1]);
  const MountPoint mount_point;
  auto keeper = Keeper::start([&](u32 parent) {
    ours = FileDescriptor();  // so that the waits end if the supervisor does
    ::sigprocmask(SIG_SETMASK, &signal_mask, nullptr);
    become(command, view, mount_point.path(), numbers, parent, theirs.number());
  });
  if (!keeper.ok()) return Failure(keeper.error());
  theirs = FileDescriptor();

  auto first = receive_message(ours.number());
  if (!first) return Failure(Error("the process ended before it became the program"));
  if (!first->file) return Failure(Error(refusal_of_filter(first->message.error_number)));
  if (const int error = try_to_trace(keeper->program()); error != 0)
    return Failure(
        Error(fmt::format("tracing is forbidden here (ptrace: {}): in a container, --cap-add SYS_PTRACE "
                          "permits it; /proc/sys/kernel/yama/ptrace_scope has to be below 2",
                          std::strerror(error))));
  ::send(ours.number(), "", 1, MSG_NOSIGNAL);
  if (const auto failed = receive_message(ours.number()); failed)
    return Failure(Error(fmt::format("{}: cannot be started: {}", command.front(),
                                     std::strerror(failed->message.error_number))));
  return Started{.keeper = std::move(keeper).value(),
                 .listener = Listener(std::move(first->file)),
                 .shown = {.missing = first->message.missing.data(),
                           .missing_registers = first->message.missing_registers.data(),
                           .registers = first->message.registers}};
}

}  // namespace pmusim::live
