// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_SCHEDULER_H
#define PMUSIM_SRC_PERF_SCHEDULER_H

#include <functional>
#include <map>
#include <span>

#include "perf/context.h"
#include "perf/pmus.h"
#include "pmusim/perf/driver.h"

namespace pmusim::perf {

inline bool is_hardware(const Event& event) { return event.pmu_place != pmu_place::SOFTWARE; }
/// The place of the PMU that counts the group's hardware events; SOFTWARE if it has none.
u32 hardware_of(const Event& leader);
/// The place of the PMU among whose groups it has its turn: the kernel's own events have it among the core's.
u32 turn_of(const Event& leader);

/// Puts event groups of one CPU's and of its current task's context on its PMUs and takes them off.
///
/// Events of other CPUs, and of PMUs that this one does not have, are passed over.
/// CPU pinned, task pinned, CPU flexible, task flexible; a group goes on whole or not at all. The first group
/// that finds no room ends its list for the events of its PMU; pure software groups always go on.
class Scheduler {
 public:
  /// `clock`: perf time (ns) of the CPU.
  Scheduler(i32 cpu_number, Pmus& pmus, const u64& clock) : number_(cpu_number), pmus_(pmus), clock_(clock) {
    cpu_.enter(clock);
  }

  Context& cpu() { return cpu_; }
  Context* task() { return task_; }

  /// The task's context leaves the CPU; then another takes it, nullptr: nobody's does. What the CPU's own
  /// events count goes on meanwhile.
  void task_leaves();
  /// One of its PMUs alone.
  void task_leaves_pmu(u32 place);
  void task_comes(Context* task);
  /// For events of the CPU that are to count while tasks of `cgroup` run. `current`: of the task that does.
  const CgroupOnCpu& watch(const Cgroup& cgroup, const Cgroup& current);
  /// The task that is to run is of this cgroup: where that changes, the CPU's own events come off the PMUs
  /// that count for cgroups, and what counts now goes on (Linux: perf_cgroup_switch).
  void cgroup_comes(const Cgroup& next);
  /// After these events, or their states, changed: takes off the PMU what stands behind them or beside them,
  /// and puts on what fits (Linux: ctx_resched).
  void reschedule(std::span<Event* const> changed);
  /// Takes one group or one member off.
  void take_off(Event& event);
  /// Takes the event off, and leaves its group on the PMU.
  void take_off_alone(Event& event);
  /// Gives the next flexible group its turn where one found no room. True if anything moved.
  bool rotate();
  /// A guest has the PMUs at `places` for itself: their events go off, and stay so until put_guest().
  void load_guest(std::span<const u32> places);
  void put_guest();
  /// Whether the group, or what hangs on it, can count on this CPU now.
  bool is_here(const Event& leader) const;
  /// The same, whichever kind of core it counts on (Linux: event_filter_match).
  bool may_be_here(const Event& leader) const;
  /// The same, on whichever CPU: its cgroup runs, and no guest has its PMU.
  bool is_among(const Event& leader) const;

  /// Called for each event that goes on again after it was throttled.
  std::function<void(Event&)> on_unthrottle;

 private:
  enum class Fit : u8 { yes, no };
  /// On these PMUs.
  using Places = std::span<const u32>;
  void lists_off(Context& context, unsigned lists, Places places);
  void list_on(Context& context, unsigned list, Places places);
  void all_on(Places of_cpu, Places of_task);
  void follow(CgroupOnCpu& watched);
  std::vector<u32> pmus_with_cgroups();
  bool rotate(u32 place);
  void software_on(std::span<Event* const> changed);
  void set_guest_is_loaded(bool loaded);
  static Event* next_to_wait(Context& context, u32 place);
  static void put_last(Context& context, Event* leader);
  void list_on(std::vector<Event*>& leaders, Context& context, u32 place);
  Fit group_on(Event& leader);
  bool event_on(Event& event);
  void take_back(Event& leader);
  void announce_unthrottled(Event& leader);
  void event_off(Event& event, EventState next);
  void group_off(Event& leader);
  /// What goes on on a PMU.
  struct Use {
    unsigned active = 0;     // events
    bool exclusive = false;  // a group has the PMU for itself
    bool full = false;       // a group of the list that has its turn found no room
  };
  Use& use_of(u32 place);
  bool may_go_on(const Event& leader);

  i32 number_;
  Pmus& pmus_;
  const u64& clock_;
  std::vector<Use> uses_;  // by place of the PMU
  Context cpu_{nullptr};
  Context* task_ = nullptr;
  std::vector<u32> of_guest_;           // PMUs that a guest has, by place
  std::map<u64, CgroupOnCpu> cgroups_;  // by number
  const Cgroup* cgroup_ = nullptr;      // of who runs, once any is watched
};

}  // namespace pmusim::perf

#endif
