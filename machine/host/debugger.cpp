// SPDX-License-Identifier: MIT
#include "host/debugger.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "guest/channel.h"
#include "host/errors.h"

namespace pmusim::machine {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& place, const std::string& why) {
  throw Refusal("--gdb " + place + ": " + why);
}

/// The emulator inherits it, at a number for which it has no other use.
int socket_for_emulator(int domain) {
  const int made = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int descriptor = made < 0 ? -1 : fcntl(made, F_DUPFD, REMARKS_DESCRIPTOR + 1);
  if (made >= 0) close(made);
  if (descriptor < 0) throw Refusal(std::string("--gdb: no socket: ") + std::strerror(errno));
  return descriptor;
}

/// A socket that was left there by somebody who was killed.
bool nobody_listens(const sockaddr_un& address) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int status = connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const bool refused = status != 0 && errno == ECONNREFUSED;
  close(descriptor);
  return refused;
}

/// The image names its release where its header says, in words (Documentation/arch/x86/boot.rst).
std::string release_of(const fs::path& kernel) {
  constexpr std::size_t pointer = 0x20E, base = 0x200, longest = 256;
  std::ifstream file(kernel, std::ios::binary);
  std::string head(pointer + 2 + 0x10000 + longest, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (head.size() < pointer + 2) return {};
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(head[at]); };
  const std::size_t at = base + (byte(pointer) | static_cast<std::size_t>(byte(pointer + 1)) << 8);
  if (at >= head.size()) return {};
  const std::string words = head.substr(at, longest);
  return words.substr(0, words.find_first_of(std::string_view(" /\0", 3)));
}

}  // namespace

DebuggerSocket::DebuggerSocket(const std::string& place) {
  if (!place.empty() && std::ranges::all_of(place, [](char c) { return c >= '0' && c <= '9'; })) {
    unsigned port = 0;
    std::from_chars(place.data(), place.data() + place.size(), port);
    if (port < 1 || port > 65535) refuse(place, "no port; expected 1 to 65535, or the path of a socket");
    listen_at_port(port);
  } else {
    listen_at_path(place);
  }
}

DebuggerSocket::~DebuggerSocket() {
  close(descriptor_);
  std::error_code error;
  if (!made_.empty()) fs::remove(made_, error);
}

void DebuggerSocket::listen_at_port(unsigned port) {
  descriptor_ = socket_for_emulator(AF_INET);
  const int yes = 1;
  setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(descriptor_, 1) != 0)
    refuse(std::to_string(port), std::string("no port to listen at: ") + std::strerror(errno));
  target_ = "localhost:" + std::to_string(port);
}

void DebuggerSocket::listen_at_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    refuse(path, "no path of a socket; expected one of 1 to " + std::to_string(sizeof address.sun_path - 1) +
                     " bytes");
  std::ranges::copy(path, address.sun_path);
  if (std::error_code error; fs::exists(fs::symlink_status(path, error))) {
    if (!fs::is_socket(path, error)) refuse(path, "is there, and no socket; expected another name");
    if (!nobody_listens(address)) refuse(path, "another program listens there; expected another name");
    fs::remove(path, error);
  }
  descriptor_ = socket_for_emulator(AF_UNIX);
  const mode_t before = umask(077);
  const int status = bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  umask(before);
  if (status != 0 || listen(descriptor_, 1) != 0)
    refuse(path, std::string("no socket can be made there: ") + std::strerror(status != 0 ? error : errno));
  target_ = path;
  made_ = fs::absolute(path);
}

std::vector<std::string> DebuggerSocket::emulator_words() const {
  return {"-S", "-chardev", "socket,id=debugger,server=on,wait=off,fd=" + std::to_string(descriptor_), "-gdb",
          "chardev:debugger"};
}

fs::path vmlinux_of(const fs::path& kernel) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(kernel, error).parent_path();
  const std::string release = release_of(kernel);
  const auto is_there = [&](const fs::path& path) { return fs::is_regular_file(path, error); };
  // An image lies in arch/x86/boot of its tree.
  const fs::path tree = folder.parent_path().parent_path().parent_path();
  if (folder.filename() == "boot" && is_there(tree / "vmlinux")) return tree / "vmlinux";
  for (const fs::path& path : {folder / "vmlinux", fs::path("/usr/lib/debug/boot") / ("vmlinux-" + release)})
    if (is_there(path)) return path;
  return {};
}

}  // namespace pmusim::machine
