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

  /// A thread comes into being.
  void start(u32 tid);
  /// It gets its turn: where.
  u32 place(u32 tid);
  /// It has run for a tick: where it goes on.
  u32 after_tick(u32 tid);
  void exit(u32 tid);

 private:
  u32 best() const;

  const Topology& machine_;
  Schedule schedule_;
  std::vector<u32> online_;
  std::vector<u32> load_;      // threads by CPU
  std::map<u32, u32> cpu_of_;  // by tid
};

}  // namespace pmusim

#endif
