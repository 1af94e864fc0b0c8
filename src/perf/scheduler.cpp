// SPDX-License-Identifier: MIT
#include "perf/scheduler.h"

#include <algorithm>

#include "perf/throttle.h"

namespace pmusim::perf {

std::vector<Event*> Context::events() const {
  std::vector<Event*> all;
  for (const auto* list : {&pinned_, &flexible_})
    for (Event* leader : *list) {
      all.push_back(leader);
      all.insert(all.end(), leader->siblings.begin(), leader->siblings.end());
    }
  return all;
}

/// Enabled time runs while the event and its leader are at least inactive, running time while it is active.
void Scheduler::update_times(Event& event, u64 now) const {
  const u64 time = event.context->time(now);
  const u64 passed = time - event.time_stamp;
  event.time_stamp = time;
  const bool enabled = event.state >= EventState::inactive && event.leader->state >= EventState::inactive;
  if (!enabled) return;
  event.time_enabled += passed;
  if (event.state == EventState::active) event.time_running += passed;
}

void Scheduler::event_off(Event& event, EventState next, u64 now) {
  if (event.state != EventState::active) return;
  event.pmu->remove(event);
  update_times(event, now);
  event.state = next;
  if (is_hardware(event)) --hardware_active_;
  if (event.is_leader() && event.attr.exclusive) exclusive_ = false;
}

void Scheduler::group_off(Event& leader, u64 now) {
  event_off(leader, EventState::inactive, now);
  for (Event* sibling : leader.siblings) event_off(*sibling, EventState::inactive, now);
}

void Scheduler::take_off(Event& event, u64 now) {
  hardware_.disable();
  if (event.is_leader())
    group_off(event, now);
  else
    event_off(event, EventState::inactive, now);
  hardware_.enable();
}

/// A member that is off, or in error, does not keep its group from going on.
bool Scheduler::event_on(Event& event, u64 now) {
  if (event.state != EventState::inactive) return true;
  update_times(event, now);
  if (!event.pmu->add(event)) return false;
  event.state = EventState::active;
  if (is_hardware(event)) ++hardware_active_;
  return true;
}

Scheduler::Fit Scheduler::group_on(Event& leader, u64 now) {
  const bool has_hardware = group_has_hardware(leader);
  if (has_hardware) hardware_.begin();
  bool fits = event_on(leader, now);
  for (Event* sibling : leader.siblings) fits = fits && event_on(*sibling, now);
  if (fits && (!has_hardware || hardware_.commit())) {
    exclusive_ = exclusive_ || leader.attr.exclusive;
    announce_unthrottled(leader);
    return Fit::yes;
  }
  take_back(leader);
  hardware_.cancel();
  return Fit::no;
}

/// Undoes event_on() of a group that does not fit. What the hardware was given goes with the transaction.
void Scheduler::take_back(Event& leader) {
  const auto undo = [&](Event& event) {
    if (event.state != EventState::active) return;
    event.state = EventState::inactive;
    if (is_hardware(event))
      --hardware_active_;
    else
      software_.remove(event);
  };
  undo(leader);
  for (Event* sibling : leader.siblings) undo(*sibling);
}

void Scheduler::announce_unthrottled(Event& leader) {
  const auto announce = [&](Event& event) {
    if (event.hw.interrupts == throttled && on_unthrottle) on_unthrottle(event);
  };
  announce(leader);
  for (Event* sibling : leader.siblings) announce(*sibling);
}

bool Scheduler::group_has_hardware(const Event& leader) const {
  return is_hardware(leader) ||
         std::ranges::any_of(leader.siblings, [&](const Event* e) { return is_hardware(*e); });
}

bool Scheduler::may_go_on(const Event& leader, bool hardware_full) const {
  if (!group_has_hardware(leader)) return true;
  if (exclusive_ || hardware_full) return false;
  return !leader.attr.exclusive || hardware_active_ == 0;
}

void Scheduler::list_on(std::vector<Event*>& leaders, Context& context, u64 now, bool& hardware_full) {
  for (Event* leader : leaders) {
    if (leader->state != EventState::inactive) continue;
    if (may_go_on(*leader, hardware_full) && group_on(*leader, now) == Fit::yes) continue;
    hardware_full = true;
    if (leader->attr.pinned) {
      update_times(*leader, now);
      leader->state = EventState::error;
    } else {
      context.rotate_necessary = true;
    }
  }
}

void Scheduler::all_on(u64 now) {
  const auto list_of_its_own = [&](std::vector<Event*>& leaders, Context& context) {
    bool hardware_full = false;
    list_on(leaders, context, now, hardware_full);
  };
  list_of_its_own(cpu_.pinned(), cpu_);
  if (task_) list_of_its_own(task_->pinned(), *task_);
  list_of_its_own(cpu_.flexible(), cpu_);
  if (task_) list_of_its_own(task_->flexible(), *task_);
}

void Scheduler::all_off(u64 now) {
  for (Context* context : {task_, &cpu_}) {
    if (!context) continue;
    context->rotate_necessary = false;
    for (auto* list : {&context->flexible(), &context->pinned()})
      for (Event* leader : *list) group_off(*leader, now);
  }
}

void Scheduler::reschedule(u64 now) {
  hardware_.disable();
  all_off(now);
  all_on(now);
  hardware_.enable();
}

void Scheduler::switch_to(Context* next, u64 now) {
  hardware_.disable();
  all_off(now);
  if (task_) task_->leave(now);
  task_ = next;
  if (task_) task_->enter(now);
  all_on(now);
  hardware_.enable();
}

bool Scheduler::rotate(u64 now) {
  bool needed = false;
  for (Context* context : {&cpu_, task_}) {
    if (!context || !context->rotate_necessary) continue;
    auto& leaders = context->flexible();
    const auto active =
        std::ranges::find_if(leaders, [](Event* e) { return e->state == EventState::active; });
    const auto first = active != leaders.end() ? active : leaders.begin();
    std::rotate(first, first + 1, leaders.end());
    needed = true;
  }
  if (needed) reschedule(now);
  return needed;
}

}  // namespace pmusim::perf
