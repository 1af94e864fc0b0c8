// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "perf/linux_core.h"

/// Tasks come, change and go: side-band records, inheritance, and whose events count.
namespace pmusim::perf {

namespace {

bool follows_tasks(const Attr& a) { return a.comm || a.mmap || a.mmap2 || a.mmap_data || a.task; }

bool is_executable(const Mapping& mapping) { return (mapping.protection & 4) != 0; }

TaskId id_of(const Task* task) { return task ? TaskId{task->pid, task->tid} : TaskId{}; }

void count_in_kernel(CpuContext& cpu, SoftwareId id) {
  InterruptFrame frame;
  frame.cpl = Cpl::kernel;
  cpu.software.count(id, 1, 0, frame);
}

}  // namespace

Task* LinuxCore::find_task(u32 tid) {
  const auto found = tasks_.find(tid);
  return found == tasks_.end() ? nullptr : found->second.get();
}

Moment LinuxCore::moment_of(const CpuContext& cpu, const Task* task) {
  return {task ? task->pid : 0, task ? task->tid : 0, cpu.id, cpu.time};
}

/// To every enabled event that sees this task where it is: those of the CPU, and the task's own. An inherited
/// event writes to the buffer of the original; a record goes to each buffer once per event, as each may have
/// another layout.
template <class Record, class Wants>
void LinuxCore::emit(Task& task, const Record& record, Wants wants) {
  CpuContext& cpu = cpu_of(task);
  const Moment moment = moment_of(cpu, &task);
  for (Context* context : {&cpu.context(), task.context.get()})
    for (Event* event : context->newest_first()) {
      if (!is_heard(cpu, *event) || !wants(event->attr)) continue;
      if (RingBuffer* ring = ring_of(*event)) output_record(*ring, *event, moment, record);
    }
}

/// A task whose id comes again without an exit between has gone unnoticed.
void LinuxCore::task_started(u32 pid, u32 tid, std::string comm) {
  exit(tid);
  tasks_.emplace(tid, std::make_unique<Task>(pid, tid, std::move(comm), cgroups_.at(root_cgroup)));
}

void LinuxCore::fork(u32 parent_tid, u32 pid, u32 tid) {
  Task* parent = find_task(parent_tid);
  if (!parent || tid == parent_tid) return;
  task_started(pid, tid, parent->comm);
  Task& child = *find_task(tid);
  child.parent_pid = pid == parent->pid ? parent->parent_pid : parent->pid;  // threads have one parent
  child.parent_tid = parent->tid;
  child.cgroup = parent->cgroup;
  inherit(*parent, child);
  child.last = &cpu_of(*parent);
  emit(*parent, TaskRecord{RecordType::fork, pid, parent->pid, tid, parent->tid, cpu_of(*parent).time},
       follows_tasks);
}

void LinuxCore::exec(u32 tid, std::string comm) {
  Task* task = find_task(tid);
  if (!task) return;
  const std::vector<Event*> events = task->context->events();
  bool enabled = false;
  for (Event* event : events) {
    if (event->attr.enable_on_exec && event->state == EventState::off) {
      event->attr.enable_on_exec = 0;
      set_state(*event, EventState::inactive);
      task->context->end_lineage();
      enabled = true;
    }
    if (event->attr.remove_on_exec) {
      task->context->end_lineage();
      set_state(*event, EventState::exit);
      event->hung_up = true;
    }
  }
  if (enabled && task->on) task->on->scheduler.reschedule(events);
  task->comm = std::move(comm);
  emit(*task, CommRecord{task->pid, task->tid, task->comm, misc::COMM_EXEC},
       [](const Attr& a) { return a.comm != 0; });
}

void LinuxCore::set_comm(u32 tid, std::string comm) {
  Task* task = find_task(tid);
  if (!task) return;
  task->comm = std::move(comm);
  emit(*task, CommRecord{task->pid, task->tid, task->comm, 0}, [](const Attr& a) { return a.comm != 0; });
}

void LinuxCore::mmap_region(u32 tid, const Mapping& m) {
  Task* task = find_task(tid);
  if (!task) return;
  const bool code = is_executable(m);
  const auto wants = [&](const Attr& a) { return code ? a.mmap || a.mmap2 : a.mmap_data != 0; };
  const u16 misc = code ? misc::USER : misc::USER | misc::MMAP_DATA;
  emit(*task, MmapRecord{task->pid, task->tid, m.address, m.length, m.page_offset, m.name, misc},
       [&](const Attr& a) { return wants(a) && !a.mmap2; });

  Mmap2Record record{task->pid, task->tid,          m.address, m.length,     m.page_offset, m.major, m.minor,
                     m.inode,   m.inode_generation, {},        m.protection, m.flags,       m.name,  misc};
  emit(*task, record,
       [&](const Attr& a) { return wants(a) && a.mmap2 && !(a.build_id && !m.build_id.empty()); });
  record.build_id = m.build_id;
  record.misc |= misc::MMAP_BUILD_ID;
  emit(*task, record,
       [&](const Attr& a) { return wants(a) && a.mmap2 && a.build_id && !m.build_id.empty(); });
}

void LinuxCore::exit(u32 tid) {
  Task* task = find_task(tid);
  if (!task) return;
  if (task->on && task->context->has_events()) leave_with_samples(*task->on);
  emit(*task,
       TaskRecord{RecordType::exit, task->pid, task->parent_pid, task->tid, task->parent_pid,
                  cpu_of(*task).time},
       follows_tasks);
  for (Event* event : task->context->newest_first()) exit_event(*event);
  if (task->on) switch_to(*task->on, 0, SwitchReason::blocked);
  tasks_.erase(tid);
}

/// The events of a task that ends leave each PMU together, and with them the samples that hardware still
/// holds of it. Those of the CPU stay, and samples come out with the switch that follows.
void LinuxCore::leave_with_samples(CpuContext& cpu) {
  for (const u32 place : std::vector<u32>(cpu.scheduler.task()->pmus())) {
    cpu.pmus.disable({&place, 1});
    cpu.scheduler.task_leaves_pmu(place);
    cpu.pmus.enable({&place, 1});
  }
  cpu.scheduler.task_leaves();
}

/// An inherited event folds its counts into the original and is gone; an opened one stays for its reader.
void LinuxCore::exit_event(Event& event) {
  const u64 enabled_so_far = event.time_enabled;  // of one that is on the PMU no longer: until it left
  set_state(event, EventState::exit);
  if (!event.parent) {
    event.hung_up = event.children.empty();
    event.context->remove(event);
    event.context->end_lineage();
    event.context = &gone_;
    event.time_stamp = event.context->time();
    return;
  }
  Event& original = *event.parent;
  if (event.attr.inherit_stat && original.ring) {
    const auto values = read_values(event);
    const Task* task = event.context->task();
    output_record(*original.ring, event, moment_of(cpu_of(*task), task),
                  ReadRecord{task->pid, task->tid, values});
  }
  original.child_count += event.count;
  original.child_time_enabled +=
      has(options_.limits.kernel, change::children_fold_early) ? enabled_so_far : event.time_enabled;
  original.child_time_running += event.time_running;
  remove(event);
  if (original.children.empty() && original.state == EventState::exit) original.hung_up = true;
}

// --- inheritance

void LinuxCore::inherit(Task& parent, Task& child) {
  const auto inherits = [&](const Event& event) {
    return event.attr.inherit && event.state > EventState::exit &&
           (!event.attr.inherit_thread || parent.pid == child.pid);
  };
  bool all = true;
  for (auto* list : {&parent.context->pinned(), &parent.context->flexible()})
    for (Event* leader : *list) {
      Event* const new_leader = inherits(*leader) ? inherit_event(*leader, child, nullptr) : nullptr;
      all = all && new_leader != nullptr;
      if (!new_leader) continue;
      for (Event* sibling : leader->siblings) inherit_event(*sibling, child, new_leader);
    }
  if (all && child.context->has_events()) child.context->inherit_lineage(*parent.context);
}

/// Children of children belong to the event that was opened.
Event* LinuxCore::inherit_event(Event& from, Task& child, Event* leader) {
  Event& original = from.original();
  auto owned = std::make_unique<Event>();
  Event& event = *owned;
  event.attr = original.attr;
  event.id = next_id_++;
  event.cpu = original.cpu;
  event.parent = &original;
  event.pmu_place = original.pmu_place;
  event.pmu = original.pmu;
  event.context = child.context.get();
  event.leader = leader ? leader : &event;
  event.state = from.state >= EventState::inactive ? EventState::inactive : EventState::off;
  event.attr.enable_on_exec = from.attr.enable_on_exec;
  event.hw.sample_period = event.hw.last_period = original.hw.sample_period;
  event.hw.period_left = static_cast<i64>(original.hw.sample_period);
  if (!home_of(event).init(event)) return nullptr;
  event.layout = layout_of(event.attr);
  original.children.push_back(&event);
  events_.push_back(std::move(owned));
  install(event, leader);
  return &event;
}

// --- context switches

void LinuxCore::switch_to(CpuContext& cpu, u32 tid, SwitchReason reason) {
  Task* const next = tid == 0 ? nullptr : find_task(tid);
  Task* const previous = cpu.current;
  if (next == previous) return;
  if (next && next->on)
    throw std::invalid_argument(fmt::format("switch_to: task {} cannot run on CPU {} while it runs on {}",
                                            tid, cpu.id, next->on->id));
  if (next && !cpu.online) throw std::invalid_argument(fmt::format("switch_to: CPU {} is offline", cpu.id));
  const bool migrates = next && next->has_run && next->last != &cpu;
  // Nobody is idle on a lone CPU: between two tasks of a program there is one switch.
  if (previous || cpus_.size() > 1) count_in_kernel(cpu, SoftwareId::context_switches);
  if (&cgroup_of(previous) != &cgroup_of(next)) count_in_kernel(cpu, SoftwareId::cgroup_switches);
  // The idle task could always go on.
  const bool could_go_on = previous == nullptr || reason == SwitchReason::preempted;
  const u16 out = misc::SWITCH_OUT | (could_go_on ? misc::SWITCH_OUT_PREEMPT : 0);
  const bool leaves = previous && previous->context->has_events(),
             comes = next && next->context->has_events();
  const bool stays = leaves && comes && has_same_events(*previous->context, *next->context);
  if (!leaves) cpu.pmus.context_switch(PmuDriver::SwitchDirection::out, id_of(previous));
  emit_switch(cpu, previous, next, out);
  const std::vector<u32> left = leaves ? previous->context->pmus() : std::vector<u32>{};
  if (leaves) {
    cpu.pmus.disable(left);
    cpu.pmus.context_switch(PmuDriver::SwitchDirection::out, id_of(previous));
  }
  if (stays)
    exchange_contexts(*previous, *next);
  else
    cpu.scheduler.task_leaves();
  cpu.scheduler.cgroup_comes(cgroup_of(next));
  cpu.pmus.enable(left);
  cpu.current = next;
  if (previous) previous->on = nullptr;
  if (next) {
    next->on = next->last = &cpu;
    next->has_run = true;
  }
  if (comes) cpu.pmus.disable(next->context->pmus());
  if (!stays) cpu.scheduler.task_comes(next ? next->context.get() : nullptr);
  if (comes) {
    cpu.pmus.context_switch(PmuDriver::SwitchDirection::in, id_of(next));
    cpu.pmus.enable(next->context->pmus());
  }
  emit_switch(cpu, next, previous, 0);
  if (!comes) cpu.pmus.context_switch(PmuDriver::SwitchDirection::in, id_of(next));
  if (migrates) count_in_kernel(cpu, SoftwareId::cpu_migrations);
}

/// Tasks whose events all come from the same opened ones need not change them (Linux:
/// perf_event_context_sched_out), unless counts of each task are asked for.
bool LinuxCore::has_same_events(const Context& one, const Context& other) {
  const auto is_of_its_task = [](const Event* event) {
    return event->attr.inherit_stat || (event->attr.sample_type & sample::READ) != 0;
  };
  return one.lineage() != nullptr && one.lineage() == other.lineage() &&
         std::ranges::none_of(one.events(), is_of_its_task);
}

/// The events stay on the PMU, and from now on are the other task's.
void LinuxCore::exchange_contexts(Task& previous, Task& next) {
  std::swap(previous.context, next.context);
  previous.context->give_to(previous);
  next.context->give_to(next);
}

/// Events of the task get SWITCH; those of the CPU also learn who is on the other side. Idle is a task, too.
void LinuxCore::emit_switch(CpuContext& cpu, Task* task, const Task* other, u16 misc) {
  const Moment moment = moment_of(cpu, task);
  const SwitchCpuWideRecord wide{other ? other->pid : 0, other ? other->tid : 0, misc};
  for (Context* context : {&cpu.context(), task ? task->context.get() : nullptr}) {
    if (!context) continue;
    for (Event* event : context->newest_first()) {
      RingBuffer* ring = ring_of(*event);
      if (!is_heard(cpu, *event) || !event->attr.context_switch || !ring) continue;
      if (context->task())
        output_record(*ring, *event, moment, SwitchRecord{misc});
      else
        output_record(*ring, *event, moment, wide);
    }
  }
}

}  // namespace pmusim::perf
