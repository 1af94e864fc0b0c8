// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_CONTEXT_H
#define PMUSIM_SRC_PERF_CONTEXT_H

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "perf/cgroup.h"
#include "perf/stopwatch.h"
#include "pmusim/perf/driver.h"

namespace pmusim::perf {

struct Task;

/// The lists of a context, as bits.
namespace list {
inline constexpr unsigned PINNED = 1, FLEXIBLE = 2, ALL = PINNED | FLEXIBLE;
}

/// Events that are scheduled together: those of one task, or those of a CPU whoever runs on it.
///
/// Its time stands still while it is not on a CPU; the times of its events are measured in it.
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
  /// The same in the order in which they hear of what tasks do (Linux: event_list, which grows at its head).
  std::vector<Event*> newest_first() const;

  /// ns that the context has been on a CPU so far.
  u64 time() const { return watch_.time(); }
  /// `clock`: perf time (ns) of the CPU, until leave().
  void enter(const u64& clock) { watch_.start(clock); }
  void leave() { watch_.stop(); }
  bool on_cpu() const { return watch_.runs(); }

  bool has_events() const { return !pinned_.empty() || !flexible_.empty(); }

  /// Places of the PMUs that events of the context have come to, in the order in which they have their turn:
  /// of a CPU the newest first, of a task by number (Linux: pmu_ctx_list).
  const std::vector<u32>& pmus() const { return pmus_; }
  void come_to(u32 place) {
    if (std::ranges::find(pmus_, place) != pmus_.end()) return;
    pmus_.insert(task_ == nullptr ? pmus_.begin() : std::ranges::upper_bound(pmus_, place), place);
  }

  /// A guest has its PMUs: meanwhile no time counts as enabled for events that exclude the guest.
  bool guest_is_loaded() const { return guest_is_loaded_; }
  void set_guest_is_loaded(bool loaded);

  unsigned lists_on = 0;  ///< lists that had their turn: what of them is off found no room
  u64 rotates = 0;        ///< PMUs on which a flexible group found no room, bits by place

 private:
  std::vector<Event*>& list_of(const Event& leader) { return leader.attr.pinned ? pinned_ : flexible_; }
  Task* task_;
  std::vector<Event*> pinned_, flexible_;
  std::vector<u32> pmus_;
  std::shared_ptr<const void> lineage_;
  Stopwatch watch_;
  bool guest_is_loaded_ = false;
};

/// ns in which the event's times are measured: those of its context, or of its cgroup on its CPU.
inline u64 time_for(const Event& event) {
  return event.cgroup != nullptr ? event.cgroup->watch.time() : event.context->time();
}

/// Brings time_enabled and time_running up to time_for(). Before every change of state.
void update_times(Event& event);

struct CpuContext;

/// A thread of the replayed program.
struct Task {
  Task(u32 p, u32 t, std::string name, const Cgroup& in)
      : pid(p), tid(t), comm(std::move(name)), cgroup(&in), context(std::make_unique<Context>(this)) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  u32 pid, tid;
  u32 parent_pid = 0, parent_tid = 0;
  std::string comm;
  const Cgroup* cgroup;
  std::unique_ptr<Context> context;  ///< passes to other tasks that have the same events
  CpuContext* on = nullptr;          ///< the CPU that it runs on
  CpuContext* last = nullptr;        ///< where it has been last, or has come into being
  bool has_run = false;
};

}  // namespace pmusim::perf

#endif
