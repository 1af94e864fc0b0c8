// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_SCHEDULER_H
#define PMUSIM_SRC_PERF_SCHEDULER_H

#include <functional>
#include <span>

#include "perf/context.h"
#include "perf/pmus.h"
#include "pmusim/perf/driver.h"

namespace pmusim::perf {

/// Puts event groups of the CPU's and of the current task's context on the PMU and takes them off.
///
/// CPU pinned, task pinned, CPU flexible, task flexible; a group goes on whole or not at all. The first group
/// that finds no room ends its list for the events of its PMU; pure software groups always go on.
class Scheduler {
 public:
  Scheduler(Pmus& pmus, PmuDriver& software) : pmus_(pmus), software_(software) {}

  Context& cpu() { return cpu_; }
  Context* task() { return task_; }

  /// The task's context leaves the CPU; then another takes it, nullptr: nobody's does. What the CPU's own
  /// events count goes on meanwhile.
  void task_leaves(u64 now);
  void task_comes(Context* task, u64 now);
  /// After these events, or their states, changed: takes off the PMU what stands behind them or beside them,
  /// and puts on what fits (Linux: ctx_resched).
  void reschedule(std::span<Event* const> changed, u64 now);
  /// Takes one group or one member off.
  void take_off(Event& event, u64 now);
  /// Takes the event off, and leaves its group on the PMU.
  void take_off_alone(Event& event, u64 now);
  /// Gives the next flexible group its turn where one found no room. True if anything moved.
  bool rotate(u64 now);
  /// The PMU that counts the group's hardware events; null if it has none.
  PmuDriver* hardware_of(const Event& leader) const;
  /// Brings time_enabled and time_running up to `now`. Before every change of state.
  void update_times(Event& event, u64 now) const;

  /// Called for each event that goes on again after it was throttled.
  std::function<void(Event&)> on_unthrottle;

 private:
  enum class Fit : u8 { yes, no };
  void lists_off(Context& context, unsigned lists, u64 now);
  void list_on(Context& context, unsigned list, u64 now);
  void all_on(u64 now);
  void software_on(std::span<Event* const> changed, u64 now);
  static Event* next_to_wait(Context& context);
  static void put_last(Context& context, Event* leader);
  void list_on(std::vector<Event*>& leaders, Context& context, u64 now);
  Fit group_on(Event& leader, u64 now);
  bool event_on(Event& event, u64 now);
  void take_back(Event& leader);
  void announce_unthrottled(Event& leader);
  void event_off(Event& event, EventState next, u64 now);
  void group_off(Event& leader, u64 now);
  /// What goes on on a PMU.
  struct Use {
    unsigned active = 0;     // events
    bool exclusive = false;  // a group has the PMU for itself
    bool full = false;       // a group of the list that has its turn found no room
  };
  Use& use_of(const PmuDriver& pmu);
  bool may_go_on(const Event& leader);
  bool is_hardware(const Event& event) const { return event.pmu != &software_; }

  Pmus& pmus_;
  PmuDriver& software_;
  std::vector<Use> uses_;  // by place of the PMU
  Context cpu_{nullptr};
  Context* task_ = nullptr;
};

}  // namespace pmusim::perf

#endif
