// SPDX-License-Identifier: MIT
#ifndef PMUSIM_QEMU_TRACER_H
#define PMUSIM_QEMU_TRACER_H

#include <functional>
#include <set>

#include "pmusim/base/types.h"
#include "qemu/exec_rewrite.h"
#include "trace/program_limits.h"

namespace pmusim::qemu {

/// Follows the processes of a recording with ptrace, which costs nothing but at a few events: programs that
/// they execute are put under qemu too, and ends of threads are reported.
class Tracer {
 public:
  struct Exit {
    u32 tid = 0;
    int status = 0;
  };
  Tracer(Emulation emulation, std::function<void(Exit)> on_exit)
      : emulation_(std::move(emulation)), on_exit_(std::move(on_exit)) {}
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  /// Kills what still runs.
  ~Tracer();

  /// What the plugin has open.
  struct Descriptors {
    int socket = -1, memory = -1;  ///< memory: −1 if there is none
  };
  /// Starts the program under these limits, with the socket open as `highest` in it and the memory as the one
  /// below. Errors: the system's reason. Whether there is such a program is known when nothing is left to
  /// follow.
  Result<Done, Error> start(const std::vector<std::string>& command, const trace::ProgramLimits& limits,
                            Descriptors open, int highest);
  /// Returns when nothing is left, and after an interrupted wait. True: there is more to follow.
  bool follow();
  void kill_all();

  u64 unrecorded_programs() const { return unrecorded_; }
  int status_of_first() const { return first_status_; }
  /// Why the first program could not be executed, an errno; 0 if it was.
  int start_error() const;

 private:
  void stopped(u32 tid, int status);

  Emulation emulation_;
  std::function<void(Exit)> on_exit_;
  std::set<u32> threads_;
  u32 first_ = 0;
  int report_ = -1;  // where the child that cannot execute the program says why
  int first_status_ = 0;
  u64 unrecorded_ = 0;
};

}  // namespace pmusim::qemu

#endif
