// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_LISTENER_H
#define PMUSIM_SRC_LIVE_LISTENER_H

#include <array>
#include <optional>

#include "live/filter.h"

namespace pmusim::live {

/// A system call that waits for the supervisor's answer.
struct Call {
  u64 id = 0;
  u32 tid = 0;
  u32 number = 0;  ///< SYS_*
  std::array<u64, 6> arguments{};
};

/// What becomes of a descriptor that a program is given when it executes another.
enum class AtExec : u8 { stays_open, is_closed };

/// The supervisor's end of the filter (seccomp_unotify(2)).
class Listener {
 public:
  explicit Listener(FileDescriptor descriptor) : descriptor_(std::move(descriptor)) {}
  /// Readable when a call waits; hung up when nobody is left under the filter.
  int number() const { return descriptor_.number(); }

  /// A waiting call; nothing where its caller has died meanwhile.
  std::optional<Call> receive() const;
  /// Lets the kernel execute it.
  void let_through(const Call& call) const;
  /// Ends it with this result; negative ones are errno values.
  void finish(const Call& call, i64 result) const;
  /// Gives the caller `file` under the number (any that is free: none given). Its number, or a negative
  /// errno.
  int give(const Call& call, const FileDescriptor& file, std::optional<u32> number, AtExec at_exec) const;

 private:
  FileDescriptor descriptor_;
};

}  // namespace pmusim::live

#endif
