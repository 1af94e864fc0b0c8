// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_PMU_TASKS_H
#define PMUSIM_MACHINE_PMU_TASKS_H

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::machine {

/// The ring of a perf event of the guest's, read where it lies in the guest's memory: perf_event_mmap_page of
/// <linux/perf_event.h>, then the records.
class Ring {
 public:
  static constexpr u64 page_bytes = 4096;

  /// None.
  Ring() = default;
  /// By its pages, two at least, which stay where they are as long as it is mapped.
  explicit Ring(std::vector<std::byte*> pages) : pages_(std::move(pages)) {}

  /// The next record that the kernel has written and that has not been read; empty: there is none. Valid
  /// until the next call.
  std::span<const std::byte> next();

 private:
  u64& position(std::size_t offset) { return *reinterpret_cast<u64*>(pages_.front() + offset); }
  void copy(u64 from, std::size_t bytes);

  std::vector<std::byte*> pages_;
  u64 read_ = 0;  // bytes
  std::vector<std::byte> record_;
};

/// What records of perf (COMM, FORK, EXIT, MMAP2, SWITCH_CPU_WIDE) tell of the guest's tasks, as side-band
/// records of a trace. A trace knows a task from where it first forks, executes or runs; all descend from the
/// first, whose events they inherit then. The idle task, whose number 0 stands for nobody in a trace, has
/// `idle`.
class Tasks {
 public:
  static constexpr u32 first = 1;       ///< its pid: the guest's first process
  static constexpr u32 idle = 1 << 22;  ///< the kernel's limit of pids, so nobody's

  /// Which task there is, by a COMM record.
  void know(std::span<const std::byte> record);
  /// What a record becomes: nothing, or several.
  std::vector<trace::SideBandRecord> changes(std::span<const std::byte> record);
  /// How many records the kernel had no room for.
  u64 lost() const { return lost_; }

 private:
  using Records = std::vector<trace::SideBandRecord>;
  void introduce(Records& records, u32 pid, u32 tid);
  void run(Records& records, u32 pid, u32 tid);

  std::unordered_map<u32, std::string> names_;  // of tasks that the trace does not know yet
  std::set<u32> known_{first};
  u32 running_ = first;
  std::optional<trace::ThreadExit> exiting_;  // the task that runs, for the last time
  u64 lost_ = 0;
};

}  // namespace pmusim::machine

#endif
