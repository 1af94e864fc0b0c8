// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_CORES_H
#define PMUSIM_SRC_SESSION_CORES_H

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "session/engine.h"
#include "session/machine_part.h"
#include "session/monitor.h"
#include "session/task_placement.h"

namespace pmusim {

/// The cores of a machine under the eyes of monitors, and on which of its CPUs each thread runs. One thread
/// runs at a time. Without SessionOptions::machine there is one core, and one CPU.
class Cores {
 public:
  /// Errors: those of make_engine(). Of `options` it keeps what it needs.
  static Result<std::unique_ptr<Cores>, Error> create(const SessionOptions& options,
                                                      const trace::Contents& contents);
  Cores(const Cores&) = delete;
  Cores& operator=(const Cores&) = delete;

  /// Before the first block; the monitor must outlive this.
  void add(Monitor& monitor);
  /// The program's first thread runs before its program is there. With a machine, behind the monitor that
  /// decides.
  void start(u32 tid);
  /// Behind warm-ups, in the process that runs first: caches of several cores are those of one machine, or
  /// those of a part of one that several programs run on.
  void join_caches(u32 pid);
  void join_caches(u32 pid, const MachinePart& part);
  /// Another program has run since this one did.
  void come_back() { enter(pid_); }

  std::span<const std::unique_ptr<Engine>> engines() const { return engines_; }  ///< null: a second thread
  /// That runs.
  Engine& engine() { return *engine_; }
  u32 cpu() const { return cpu_; }

  /// Behind the engine's settle(). The monitors hear of it, and who runs from now on runs where it is to.
  void on_side_band(const trace::SideBandRecord& record);
  void run(const trace::BlockRun& run);

  /// CPUs that are online and that the thread may run on, as sched_setaffinity says from now on; threads that
  /// it starts inherit them. With a machine. Where it runs elsewhere it migrates, behind settle().
  void allow(u32 tid, std::vector<u32> cpus);
  /// In increasing order.
  const std::vector<u32>& allowed(u32 tid) const { return placement_->allowed(tid); }
  const std::vector<u32>& online() const { return placement_->online(); }

 private:
  Cores(const SessionOptions& options, std::vector<std::unique_ptr<Engine>> engines);
  void join(MachineCaches& caches, const std::function<CorePlace(u32)>& place);
  void enter(u32 pid);
  u32 cpu_for(const trace::SideBandRecord& record);
  void resume_on(u32 cpu);
  void move_after_tick();
  void migrate(u32 cpu);

  std::optional<Topology> machine_;
  StartState start_;
  u64 tick_ns_;
  std::vector<Monitor*> monitors_;
  std::optional<MachineCaches> caches_;           // of several cores
  std::shared_ptr<CommonCaches> common_;          // in place of these
  u32 program_ = 0, pid_ = 0;                     // in them
  std::vector<std::unique_ptr<Engine>> engines_;  // of each core, by its first CPU; they have the monitors
  Engine* engine_;                                // that runs
  std::optional<TaskPlacement> placement_;        // on a machine
  u32 cpu_ = 0, tid_ = 0;                         // that run, with a placement
  u64 ticks_ = 0;                                 // when it was looked at last where the thread is to run
};

}  // namespace pmusim

#endif
