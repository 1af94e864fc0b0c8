// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_HOST_DEBUGGER_H
#define PMUSIM_MACHINE_HOST_DEBUGGER_H

#include <filesystem>
#include <string>
#include <vector>

namespace pmusim::machine {

/// Where a debugger of the guest finds the machine, which waits for it: a port of the loopback interface, or
/// a socket in the file system, for the user alone, that is gone with this. Whoever reaches it may do what
/// the user may: the emulator's monitor is behind it, too.
class DebuggerSocket {
 public:
  /// `place`: a port, or else the path of a socket. Refusal: it is no such place, or a taken one.
  explicit DebuggerSocket(const std::string& place);
  ~DebuggerSocket();
  DebuggerSocket(const DebuggerSocket&) = delete;
  DebuggerSocket& operator=(const DebuggerSocket&) = delete;

  /// Options of the emulator: it begins stopped, and listens there.
  std::vector<std::string> emulator_words() const;
  /// What a debugger calls the place.
  const std::string& target() const { return target_; }

 private:
  void listen_at_port(unsigned port);
  void listen_at_path(const std::string& path);

  int descriptor_ = -1;
  std::string target_;
  std::filesystem::path made_;  // empty: nothing in the file system
};

/// Where a kernel's symbols are: the vmlinux of the tree that the image was built in, or the one that a
/// package of Debian's installs for its release; empty if neither is there.
std::filesystem::path vmlinux_of(const std::filesystem::path& kernel);

}  // namespace pmusim::machine

#endif
