// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_PMU_TASKS_H
#define PMUSIM_MACHINE_PMU_TASKS_H

#include <cstddef>
#include <initializer_list>
#include <optional>
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
  /// until the next call. Errors: what the guest has there is no ring of Linux's; nothing more is read of it.
  Result<std::span<const std::byte>, Error> next();
  /// Where that record begins: bytes since the ring was made.
  u64 place() const { return place_; }

 private:
  u64& position(std::size_t offset) { return *reinterpret_cast<u64*>(pages_.front() + offset); }
  u64 bytes() const { return (pages_.size() - 1) * page_bytes; }
  void copy(u64 from, std::size_t bytes);
  Failure<Error> refuse(std::string sentence);

  std::vector<std::byte*> pages_;
  u64 read_ = 0, place_ = 0;  // bytes
  std::vector<std::byte> record_;
};

/// What records of perf (COMM, FORK, EXIT, MMAP2, SWITCH_CPU_WIDE) tell of the guest's tasks, as side-band
/// records of a trace. A trace knows a task from where it first forks, executes or runs; all descend from the
/// first, whose events they inherit then. The idle task, whose number 0 stands for nobody in a trace, has
/// `idle`.
///
/// Guests may write what they like: a record that is not as long as its kind is an error, and one of a task
/// with a number that Linux gives to none is left out and counted.
class Tasks {
 public:
  static constexpr u32 first = 1;        ///< its pid: the guest's first process
  static constexpr u32 limit = 1 << 22;  ///< of numbers: PID_MAX_LIMIT of <linux/threads.h>
  static constexpr u32 idle = limit;     ///< so nobody's

  Tasks() { known_[first] = true; }
  /// Which task there is, by a COMM record. Errors: another record, or a short one.
  Result<Done, Error> know(std::span<const std::byte> record);
  /// What a record becomes: nothing, or several. Errors: a short one.
  Result<std::vector<trace::SideBandRecord>, Error> changes(std::span<const std::byte> record);
  /// How many records the kernel had no room for.
  u64 lost() const { return lost_; }
  /// How many named a task that Linux cannot have.
  u64 left_out() const { return left_out_; }

 private:
  using Records = std::vector<trace::SideBandRecord>;
  class Members;
  struct Kind;
  static const Kind* kind_of(u32 type);

  void name(Records& records, Members members);
  void fork(Records& records, Members members);
  void exit(Records& records, Members members);
  void map(Records& records, Members members);
  void switch_to(Records& records, Members members);
  void lose(Records& records, Members members);

  bool are_tasks(std::initializer_list<u32> numbers);
  bool meet(u32 tid);
  void introduce(Records& records, u32 pid, u32 tid);
  void run(Records& records, u32 pid, u32 tid);

  std::unordered_map<u32, std::string> names_;              // of tasks that the trace does not know yet
  std::vector<bool> known_ = std::vector<bool>(limit + 1);  // by number
  u32 running_ = first;
  std::optional<trace::ThreadExit> exiting_;  // the task that runs, for the last time
  u64 lost_ = 0, left_out_ = 0;
};

}  // namespace pmusim::machine

#endif
