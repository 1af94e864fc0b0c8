// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_TASK_PLACEMENT_H
#define PMUSIM_SRC_SESSION_TASK_PLACEMENT_H

#include <map>
#include <vector>

#include "pmusim/cpu/setup.h"
#include "pmusim/session/session.h"

namespace pmusim {

/// Which CPU of a machine each thread of a program runs on. Goes by nothing but the order of calls.
class TaskPlacement {
 public:
  /// `machine` has a CPU that is online, and must outlive this.
  TaskPlacement(const Topology& machine, Schedule schedule);

  /// A thread comes into being, with the affinity of who starts it.
  void start(u32 tid, u32 parent_tid);
  /// It gets its turn: where.
  u32 place(u32 tid);
  /// It has run for a tick: where it goes on.
  u32 after_tick(u32 tid);
  void exit(u32 tid);

  /// Affinity: CPUs that are online, at least one, in increasing order. It takes effect with its next turn.
  void allow(u32 tid, std::vector<u32> cpus);
  const std::vector<u32>& allowed(u32 tid) const;
  const std::vector<u32>& online() const { return online_; }

 private:
  u32 best(u32 tid) const;
  u32& cpu_of(u32 tid);
  void move(u32 tid, u32 to);

  const Topology& machine_;
  Schedule schedule_;
  std::vector<u32> online_;
  std::vector<u32> load_;                    // threads by CPU
  std::map<u32, u32> cpu_of_;                // by tid
  std::map<u32, std::vector<u32>> allowed_;  // of those that may not run everywhere
};

}  // namespace pmusim

#endif
