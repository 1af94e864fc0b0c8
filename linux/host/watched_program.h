// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_WATCHED_PROGRAM_H
#define PMUSIM_LINUX_HOST_WATCHED_PROGRAM_H

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/machine.h"
#include "pmusim/replay/replay.h"
#include "pmusim/session/session.h"
#include "pmusim/trace/trace.h"

namespace pmusim::linux_driver {

/// A recorded program on the kernel's machine: what retires goes to the Pmus; tasks, mappings, ticks and
/// timers go to the kernel.
class WatchedProgram {
 public:
  /// On the first CPU; with a schedule, as on a Session's machine: threads take turns on all of them, and the
  /// first runs from here on. Errors: the trace cannot be read, or begins otherwise than with a process (with
  /// a schedule); the model's parameters make no machine.
  static Result<WatchedProgram, Error> open(const std::string& trace_path, KernelMachine& machine,
                                            std::optional<Schedule> schedule = {});
  WatchedProgram(WatchedProgram&&) noexcept;
  ~WatchedProgram();

  /// Called between instructions, at least once in every tick.
  void on_pause(std::function<void()> callback);
  /// The CPU goes and comes back, as soon as so much of perf time is over.
  void replug_at(u64 time_ns);
  void on_mapping(std::function<void(const trace::Mapping&)> callback);
  /// With a schedule, as Session::first_thread(); 0 without.
  u32 first_thread() const { return first_thread_; }
  /// Errors: a damaged trace.
  Result<u64, Error> run();
  const trace::Source& trace() const { return replay_->trace(); }

 private:
  class ForwardingSource;
  WatchedProgram() = default;
  std::unique_ptr<Replay> replay_;
  ForwardingSource* source_ = nullptr;  // the replay's
  u32 first_thread_ = 0;
};

}  // namespace pmusim::linux_driver

#endif
