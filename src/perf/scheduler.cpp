// SPDX-License-Identifier: MIT
#include "perf/scheduler.h"

#include <algorithm>
#include <utility>

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

std::vector<Event*> Context::newest_first() const {
  std::vector<Event*> all = events();
  std::ranges::sort(all, std::ranges::greater{}, &Event::id);
  return all;
}

void Context::set_guest_is_loaded(bool loaded) {
  for (Event* event : events()) update_times(*event);
  guest_is_loaded_ = loaded;
}

/// Enabled time runs while the event and its leader are at least inactive, running time while it is active.
void update_times(Event& event) {
  const u64 time = time_for(event);
  const u64 passed = time - event.time_stamp;
  event.time_stamp = time;
  if (event.attr.exclude_guest && event.context->guest_is_loaded()) return;
  const bool enabled = event.state >= EventState::inactive && event.leader->state >= EventState::inactive;
  if (!enabled) return;
  event.time_enabled += passed;
  if (event.state == EventState::active) event.time_running += passed;
}

void Scheduler::event_off(Event& event, EventState next) {
  if (event.state != EventState::active) return;
  event.pmu->remove(event);
  update_times(event);
  event.state = next;
  event.on_cpu = -1;
  Use& use = use_of(event.pmu_place);
  if (--use.active == 0) use.exclusive = false;
  if (event.is_leader() && event.attr.exclusive) use_of(hardware_of(event)).exclusive = false;
}

void Scheduler::group_off(Event& leader) {
  event_off(leader, EventState::inactive);
  for (Event* sibling : leader.siblings) event_off(*sibling, EventState::inactive);
}

void Scheduler::take_off(Event& event) {
  const u32 place = hardware_of(*event.leader);
  pmus_.disable({&place, 1});
  if (event.is_leader())
    group_off(event);
  else
    event_off(event, EventState::inactive);
  pmus_.enable({&place, 1});
}

void Scheduler::take_off_alone(Event& event) {
  if (event.state != EventState::active) return;
  const u32 place = hardware_of(*event.leader);
  pmus_.disable({&place, 1});
  event_off(event, EventState::inactive);
  pmus_.enable({&place, 1});
}

/// A member that is off, or in error, does not keep its group from going on.
bool Scheduler::event_on(Event& event) {
  if (event.state != EventState::inactive) return true;
  update_times(event);
  event.pmu = pmus_[event.pmu_place];
  if (!event.pmu->add(event)) return false;
  event.state = EventState::active;
  event.on_cpu = number_;
  ++use_of(event.pmu_place).active;
  return true;
}

Scheduler::Fit Scheduler::group_on(Event& leader) {
  const u32 place = hardware_of(leader);
  pmus_[place]->begin();
  bool fits = event_on(leader);
  for (Event* sibling : leader.siblings) fits = fits && event_on(*sibling);
  if (fits && pmus_[place]->commit()) {
    if (leader.attr.exclusive) use_of(place).exclusive = true;
    announce_unthrottled(leader);
    return Fit::yes;
  }
  take_back(leader);
  pmus_[place]->cancel();
  return Fit::no;
}

/// Undoes event_on() of a group that does not fit. What the hardware was given goes with the transaction.
void Scheduler::take_back(Event& leader) {
  const auto undo = [&](Event& event) {
    if (event.state != EventState::active) return;
    event.state = EventState::inactive;
    event.on_cpu = -1;
    --use_of(event.pmu_place).active;
    if (!is_hardware(event)) event.pmu->remove(event);
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

u32 hardware_of(const Event& leader) {
  if (is_hardware(leader)) return leader.pmu_place;
  const auto found = std::ranges::find_if(leader.siblings, [](const Event* e) { return is_hardware(*e); });
  return found != leader.siblings.end() ? (*found)->pmu_place : pmu_place::SOFTWARE;
}

u32 turn_of(const Event& leader) { return std::max(hardware_of(leader), pmu_place::CORE); }

bool Scheduler::is_among(const Event& leader) const {
  return std::ranges::find(of_guest_, hardware_of(leader)) == of_guest_.end() &&
         (leader.cgroup == nullptr || leader.cgroup->watch.runs());
}

bool Scheduler::may_be_here(const Event& leader) const {
  return (leader.cpu == -1 || leader.cpu == number_) && is_among(leader);
}

bool Scheduler::is_here(const Event& leader) const {
  return may_be_here(leader) && pmus_[hardware_of(leader)] != nullptr;
}

Scheduler::Use& Scheduler::use_of(u32 place) {
  uses_.resize(pmus_.size());
  return uses_[place];
}

/// There is always room for events of the kernel.
bool Scheduler::may_go_on(const Event& leader) {
  const u32 place = hardware_of(leader);
  if (place == pmu_place::SOFTWARE) return true;
  const Use& use = use_of(place);
  if (use.exclusive || use.full) return false;
  return !leader.attr.exclusive || use.active == 0;
}

void Scheduler::list_on(std::vector<Event*>& leaders, Context& context, u32 place) {
  use_of(place).full = false;
  for (Event* leader : leaders) {
    if (turn_of(*leader) != place || leader->state != EventState::inactive || !is_here(*leader)) continue;
    if (may_go_on(*leader) && group_on(*leader) == Fit::yes) continue;
    use_of(place).full = true;
    if (leader->attr.pinned) {
      update_times(*leader);
      leader->state = EventState::error;
    } else {
      context.rotates |= bit(place);
    }
  }
}

void Scheduler::lists_off(Context& context, unsigned lists, Places places) {
  context.lists_on &= ~lists;
  const auto off = [this](std::vector<Event*>& leaders, u32 place) {
    for (Event* leader : leaders)
      if (turn_of(*leader) == place) group_off(*leader);
  };
  for (const u32 place : places) {
    if ((lists & list::PINNED) != 0) off(context.pinned(), place);
    if ((lists & list::FLEXIBLE) == 0) continue;
    context.rotates &= ~bit(place);
    off(context.flexible(), place);
  }
}

void Scheduler::list_on(Context& context, unsigned list, Places places) {
  if ((context.lists_on & list) != 0) return;
  context.lists_on |= list;
  for (const u32 place : places)
    list_on(list == list::PINNED ? context.pinned() : context.flexible(), context, place);
}

void Scheduler::all_on(Places of_cpu, Places of_task) {
  for (const unsigned list : {list::PINNED, list::FLEXIBLE}) {
    list_on(cpu_, list, of_cpu);
    if (task_) list_on(*task_, list, of_task);
  }
}

/// Those of them that `changed` is about, where all of it is about one.
namespace {
std::vector<u32> concerned(const std::vector<u32>& places, std::span<Event* const> changed) {
  const u32 place = turn_of(*changed.front()->leader);
  if (!std::ranges::all_of(changed, [&](const Event* e) { return turn_of(*e->leader) == place; }))
    return places;
  return std::ranges::find(places, place) == places.end() ? std::vector<u32>{} : std::vector{place};
}
}  // namespace

void Scheduler::reschedule(std::span<Event* const> changed) {
  if (std::ranges::none_of(changed,
                           [](const Event* e) { return hardware_of(*e->leader) != pmu_place::SOFTWARE; }))
    return software_on(changed);
  unsigned of_cpu = 0, any = 0;
  for (const Event* event : changed) {
    const unsigned lists = event->leader->attr.pinned ? list::ALL : list::FLEXIBLE;
    if (event->context == &cpu_) of_cpu |= lists;
    any |= lists;
  }
  if (of_cpu == 0 && any == list::ALL) of_cpu = list::FLEXIBLE;  // pinned events of a task come before them
  const std::vector<u32> cpus = concerned(cpu_.pmus(), changed);
  const std::vector<u32> tasks = task_ ? concerned(task_->pmus(), changed) : std::vector<u32>{};
  pmus_.disable(cpus);
  pmus_.disable(tasks);
  if (task_) lists_off(*task_, any, tasks);
  lists_off(cpu_, of_cpu, cpus);
  all_on(cpus, tasks);
  pmus_.enable(cpus);
  pmus_.enable(tasks);
}

/// Nothing has to make room for software events.
void Scheduler::software_on(std::span<Event* const> changed) {
  for (Event* event : changed)
    if (event->leader->state >= EventState::inactive && is_here(*event->leader)) group_on(*event->leader);
}

const CgroupOnCpu& Scheduler::watch(const Cgroup& cgroup, const Cgroup& current) {
  CgroupOnCpu& watched = cgroups_.try_emplace(cgroup.number, CgroupOnCpu{cgroup, {}}).first->second;
  cgroup_ = &current;
  follow(watched);
  return watched;
}

void Scheduler::follow(CgroupOnCpu& watched) {
  const bool runs = watched.cgroup.holds(*cgroup_);
  if (runs == watched.watch.runs()) return;
  runs ? watched.watch.start(clock_) : watched.watch.stop();
}

std::vector<u32> Scheduler::pmus_with_cgroups() {
  std::vector<u32> places;
  for (const u32 place : cpu_.pmus())
    if (std::ranges::any_of(cpu_.events(), [&](const Event* e) {
          return e->cgroup != nullptr && turn_of(*e->leader) == place;
        }))
      places.push_back(place);
  return places;
}

void Scheduler::cgroup_comes(const Cgroup& next) {
  if (cgroups_.empty() || cgroup_ == &next) return;
  const std::vector<u32> places = pmus_with_cgroups();
  pmus_.disable(places);
  lists_off(cpu_, list::ALL, places);
  cgroup_ = &next;
  for (auto& [id, watched] : cgroups_) follow(watched);
  for (const unsigned list : {list::PINNED, list::FLEXIBLE}) list_on(cpu_, list, places);
  pmus_.enable(places);
}

void Scheduler::task_leaves_pmu(u32 place) { lists_off(*task_, list::ALL, {&place, 1}); }

void Scheduler::task_leaves() {
  if (!task_) return;
  lists_off(*task_, list::ALL, task_->pmus());
  task_->leave();
  task_ = nullptr;
}

void Scheduler::task_comes(Context* task) {
  task_ = task;
  if (!task_) return;
  task_->enter(clock_);
  if (!task_->has_events()) return;
  const bool has_pinned = !task_->pinned().empty();
  if (has_pinned) pmus_.disable(cpu_.pmus());
  if (has_pinned) lists_off(cpu_, list::FLEXIBLE, cpu_.pmus());
  all_on(cpu_.pmus(), task_->pmus());
  if (has_pinned) pmus_.enable(cpu_.pmus());
}

void Scheduler::set_guest_is_loaded(bool loaded) {
  cpu_.set_guest_is_loaded(loaded);
  if (task_) task_->set_guest_is_loaded(loaded);
}

void Scheduler::load_guest(Places places) {
  of_guest_.assign(places.begin(), places.end());
  pmus_.disable(of_guest_);
  for (Context* const context : {task_, &cpu_})
    if (context != nullptr)
      for (Event* event : context->events())
        if (!is_here(*event->leader)) event_off(*event, EventState::inactive);
  set_guest_is_loaded(true);
  pmus_.enable(of_guest_);
}

void Scheduler::put_guest() {
  set_guest_is_loaded(false);
  const std::vector<u32> places = std::exchange(of_guest_, {});
  pmus_.disable(places);
  for (Context* const context : {task_, &cpu_})
    if (context != nullptr) context->lists_on = 0;
  all_on(places, places);
  pmus_.enable(places);
}

/// They leave in the order in which they came, and the turn changes while they are off (Linux:
/// perf_rotate_context).
bool Scheduler::rotate() {
  bool moved = false;
  for (u32 place = pmu_place::CORE; place < pmus_.size(); ++place) moved = rotate(place) || moved;
  return moved;
}

bool Scheduler::rotate(u32 place) {
  const bool of_cpu = (cpu_.rotates & bit(place)) != 0, of_task = task_ && (task_->rotates & bit(place)) != 0;
  if (!of_cpu && !of_task) return false;
  Event* const next_of_cpu = of_cpu ? next_to_wait(cpu_, place) : nullptr;
  Event* const next_of_task = of_task ? next_to_wait(*task_, place) : nullptr;
  const Places here(&place, 1);
  pmus_.disable(here);
  if (task_) lists_off(*task_, list::FLEXIBLE, here);
  if (of_cpu) lists_off(cpu_, list::FLEXIBLE, here);
  put_last(cpu_, next_of_cpu);
  if (task_) put_last(*task_, next_of_task);
  all_on(here, here);
  pmus_.enable(here);
  return true;
}

/// The leader of the group that has been on longest; where none is on, of the first.
Event* Scheduler::next_to_wait(Context& context, u32 place) {
  Event* first = nullptr;
  for (Event* const leader : context.flexible()) {
    if (turn_of(*leader) != place) continue;
    if (leader->state == EventState::active) return leader;
    if (first == nullptr) first = leader;
  }
  return first;
}

void Scheduler::put_last(Context& context, Event* leader) {
  if (leader == nullptr) return;
  auto& leaders = context.flexible();
  const auto at = std::ranges::find(leaders, leader);
  std::rotate(at, at + 1, leaders.end());
}

}  // namespace pmusim::perf
