// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_CONTEXT_H
#define PMUSIM_SRC_PERF_CONTEXT_H

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pmusim/perf/driver.h"

namespace pmusim::perf {

struct Task;

/// The lists of a context, as bits.
namespace list {
inline constexpr unsigned PINNED = 1, FLEXIBLE = 2, ALL = PINNED | FLEXIBLE;
}

/// Events that are scheduled together: those of one task, or those of the CPU whoever runs on it.
///
/// Its time stands still while it is not on the CPU; the times of its events are measured in it.
class Context {
 public:
  explicit Context(Task* task) : task_(task) {}
  Task* task() const { return task_; }
  void give_to(Task& task) { task_ = &task; }

  void add(Event& leader) { list_of(leader).push_back(&leader); }
  void remove(Event& leader) { std::erase(list_of(leader), &leader); }

  /// Which events there are: a context in which all are inherited from those of another has its lineage until
  /// one joins or leaves here or there.
  const void* lineage() const { return lineage_.get(); }
  void inherit_lineage(Context& parent) {
    if (!parent.lineage_) parent.lineage_ = std::make_shared<char>();
    lineage_ = parent.lineage_;
  }
  void end_lineage() { lineage_.reset(); }
  /// Group leaders in the order in which they get their turn.
  std::vector<Event*>& pinned() { return pinned_; }
  std::vector<Event*>& flexible() { return flexible_; }
  /// Leaders and members, pinned ones first.
  std::vector<Event*> events() const;

  /// ns that the context has been on the CPU, at perf time `now`.
  u64 time(u64 now) const { return on_cpu_ ? time_ + (now - since_) : time_; }
  void enter(u64 now) {
    since_ = now;
    on_cpu_ = true;
  }
  void leave(u64 now) {
    time_ = time(now);
    on_cpu_ = false;
  }
  bool on_cpu() const { return on_cpu_; }

  bool has_events() const { return !pinned_.empty() || !flexible_.empty(); }

  unsigned lists_on = 0;          ///< lists that had their turn: what of them is off found no room
  bool rotate_necessary = false;  ///< a flexible group found no room

 private:
  std::vector<Event*>& list_of(const Event& leader) { return leader.attr.pinned ? pinned_ : flexible_; }
  Task* task_;
  std::vector<Event*> pinned_, flexible_;
  std::shared_ptr<const void> lineage_;
  u64 time_ = 0, since_ = 0;
  bool on_cpu_ = false;
};

/// A thread of the replayed program.
struct Task {
  Task(u32 p, u32 t, std::string name)
      : pid(p), tid(t), comm(std::move(name)), context(std::make_unique<Context>(this)) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  u32 pid, tid;
  u32 parent_pid = 0, parent_tid = 0;
  std::string comm;
  u64 cgroup = 1;
  std::unique_ptr<Context> context;  ///< passes to other tasks that have the same events
};

}  // namespace pmusim::perf

#endif
