// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_WATCHED_PROGRAM_H
#define PMUSIM_LINUX_HOST_WATCHED_PROGRAM_H

#include <functional>
#include <memory>
#include <string>

#include "host/machine.h"
#include "pmusim/replay/replay.h"
#include "pmusim/trace/trace.h"

namespace pmusim::linux_driver {

/// A recorded program on the kernel's machine: what retires goes to the Pmu; tasks, mappings, ticks and
/// timers go to the kernel.
class WatchedProgram {
 public:
  /// Errors: the trace cannot be read; the model's parameters make no machine.
  static Result<WatchedProgram, Error> open(const std::string& trace_path, KernelMachine& machine);
  WatchedProgram(WatchedProgram&&) noexcept;
  ~WatchedProgram();

  /// Called between instructions, at least once in every tick.
  void on_pause(std::function<void()> callback);
  /// The CPU goes and comes back, as soon as so much of perf time is over.
  void replug_at(u64 time_ns);
  void on_mapping(std::function<void(const trace::Mapping&)> callback);
  /// Errors: a damaged trace.
  Result<u64, Error> run();
  const trace::Source& trace() const { return replay_->trace(); }

 private:
  class ForwardingSource;
  WatchedProgram() = default;
  std::unique_ptr<Replay> replay_;
  ForwardingSource* source_ = nullptr;  // the replay's
};

}  // namespace pmusim::linux_driver

#endif
