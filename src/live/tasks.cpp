// SPDX-License-Identifier: MIT
// Who is watched, and how it is stepped. What stops mean is in task_stops.cpp.
#include "live/tasks.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "live/processes.h"
#include "live/ptrace.h"
#include "perf/context.h"

namespace pmusim::live {
namespace {

constexpr u64 turn_steps = 20'000;

bool counts(const perf::Event& event) {
  return event.state >= perf::EventState::inactive && event.leader->state >= perf::EventState::inactive;
}

Interests interests(const perf::PerfCore& perf) {
  Interests result;
  for (const perf::Event* event : perf.events()) {
    const perf::Task* const task = event->context != nullptr ? event->context->task() : nullptr;
    if (task == nullptr && event->state <= perf::EventState::exit) continue;  // its task is gone
    Interest& interest = task != nullptr ? result.of_task[task->tid] : result.of_cpus;
    interest = std::max(interest, counts(*event) ? Interest::instructions : Interest::lifecycle);
  }
  return result;
}

}  // namespace

WatchedTask* Tasks::find(u32 tid) {
  const auto found = tasks_.find(tid);
  return found == tasks_.end() ? nullptr : &found->second;
}

bool Tasks::is_of_run(u32 tid) const { return descends_from(trace::process_of(tid), keeper_); }

int Tasks::attach(u32 tid) const {
  return seize(tid, is_of_run(tid) ? WithoutTracer::killed : WithoutTracer::goes_on);
}

int Tasks::watch(u32 tid) {
  if (find(tid) != nullptr) return 0;
  if (const int error = attach(tid); error != 0) return error;
  add(tid);
  return 0;
}

/// Who is attached to.
WatchedTask& Tasks::add(u32 tid) {
  WatchedTask& task = tasks_[tid];
  task.pid = trace::process_of(tid);
  task.tid = tid;
  machine_.catch_up();
  machine_.perf().task_started(task.pid, tid, trace::command_of(tid));
  return task;
}

/// From then on whatever they start is watched, too. Who forks meanwhile shows with the next look.
int Tasks::watch_cpus() {
  for (bool looks = !cpus_watched_; looks;) {
    const std::size_t known = tasks_.size();
    for (const u32 pid : descendants_of(keeper_))
      for (const u32 tid : threads_of(pid))
        if (const int error = watch_if_running(tid); error != 0) return error;
    looks = tasks_.size() != known;
  }
  cpus_watched_ = true;
  return 0;
}

void Tasks::opened_on_cpu(const perf::Event& event, u32 opener) {
  observers_[event.id] = trace::process_of(opener);
}

bool Tasks::is_observer(const WatchedTask& task) const {
  return std::ranges::any_of(observers_, [&](const auto& entry) { return entry.second == task.pid; });
}

void Tasks::follow_cgroups() {
  for (auto& [tid, task] : tasks_) follow_cgroup(task);
}

/// What it has executed was there where it has been.
void Tasks::follow_cgroup(WatchedTask& task) {
  if (task.state == State::ending) return;
  const std::optional<u64> cgroup = cgroups_.of_task(task.tid);
  if (!cgroup || *cgroup == task.cgroup) return;
  if (task.state != State::stepping) end_block(task, task.registers.registers.rip);
  machine_.catch_up();
  machine_.perf().move_to_cgroup(task.tid, *cgroup);
  task.cgroup = *cgroup;
}

/// Who has been attached to as the child of a watched task is announced by it.
int Tasks::watch_if_running(u32 tid) {
  const int error = watch(tid);
  if (error == 0) return 0;
  const TaskStatus status = status_of(tid);
  return status.has_ended || status.tracer == static_cast<u32>(::getpid()) ? 0 : error;
}

int Tasks::restrict_to(u32 tid, const std::vector<u32>& cpus, bool all) {
  if (all && find(tid) == nullptr) return 0;
  if (const int error = watch(tid); error != 0) return error;
  find(tid)->is_restricted = !all;
  machine_.allow(tid, cpus);
  return 0;
}

void Tasks::follow_events() {
  const Interests now = interests(machine_.perf());
  cpus_watched_ = cpus_watched_ && now.of_cpus != Interest::none;
  std::set<u64> open;
  for (const perf::Event* const event : machine_.perf().events()) open.insert(event->id);
  std::erase_if(observers_, [&](const auto& entry) { return !open.contains(entry.first); });
  faults_counted_ = std::ranges::any_of(
      machine_.perf().events(), [](const perf::Event* event) { return counts_page_faults(event->attr); });
  cgroups_matter_ = std::ranges::any_of(machine_.perf().events(), [](const perf::Event* event) {
    return event->cgroup != nullptr || asks_for_cgroups(event->attr);
  });
  follow_extended();
  std::vector<WatchedTask*> ready;
  for (auto& [tid, task] : tasks_) {
    task.interest = interest_in(task, now);
    if (task.state == State::ready) ready.push_back(&task);
    if (task.state != State::native || task.interest == Interest::lifecycle || task.asked_to_stop) continue;
    interrupt(tid);
    task.asked_to_stop = true;
  }
  for (WatchedTask* task : ready) settle(*task);
}

Interest Tasks::interest_in(const WatchedTask& task, const Interests& events) const {
  Interest interest = task.is_restricted ? Interest::lifecycle : Interest::none;
  if (const auto own = events.of_task.find(task.tid); own != events.of_task.end())
    interest = std::max(interest, own->second);
  const Interest most = is_observer(task) ? Interest::lifecycle : Interest::instructions;
  return std::max(interest, std::min(events.of_cpus, most));
}

/// Who is ready when the first event asks for them has them; others bring them with their next stop.
void Tasks::follow_extended() {
  const bool sampled = std::ranges::any_of(machine_.perf().events(), [](const perf::Event* event) {
    return (perf::needed_registers(event->attr) & perf::register_set::EXTENDED) != 0;
  });
  if (sampled == xstate_.has_value()) return;
  xstate_.reset();
  if (!sampled) return;
  xstate_.emplace();
  for (auto& [tid, task] : tasks_)
    if (task.state == State::ready) take_extended(task);
}

/// What becomes of a task that is ready.
void Tasks::settle(WatchedTask& task) {
  if (task.interest == Interest::instructions) return begin_steps(task);
  end_block(task, task.registers.registers.rip);
  if (!end_steps(task)) return;
  const int signal = std::exchange(task.signal, 0);
  if (task.interest == Interest::none) {
    trace::let_go(task.tid, signal);
    forget(task);
    return;
  }
  task.state = State::native;
  trace::run_freely(task.tid, signal);
}

void Tasks::begin_steps(WatchedTask& task) {
  if (task.space == nullptr) learn_maps(task);
  if (!task.trap) task.trap = disguise_of(task);
  if (!task.call_comes_again && task.trap->shows_mask()) task.trap->hide_mask(task.tid);
}

/// The kernel gets back what was kept from it. False if the task has died meanwhile.
bool Tasks::end_steps(WatchedTask& task) {
  if (!task.trap) return true;
  const u32 tid = task.tid;
  task.trap->give_back(tid);
  const bool ignored = task.trap->ignores_trap();
  task.trap.reset();
  if (ignored) ignore_trap(tid);
  return find(tid) != nullptr;
}

/// As the kernel has it, unless another thread of the process has kept that from it already.
trace::TrapDisguise Tasks::disguise_of(const WatchedTask& task) const {
  for (const auto& [tid, other] : tasks_)
    if (other.pid == task.pid && other.trap) return other.trap->of_thread();
  return trace::TrapDisguise({.trap_ignored = trace::ignores(task.tid, SIGTRAP)});
}

bool Tasks::ignores_trap(const WatchedTask& task) const {
  return std::ranges::any_of(tasks_, [&](const auto& entry) {
    return entry.second.pid == task.pid && entry.second.trap && entry.second.trap->ignores_trap();
  });
}

/// Nobody's events are on the task any more.
void Tasks::forget(WatchedTask& task) {
  const u32 tid = task.tid;
  if (current_tid_ == tid) current_tid_ = 0;
  machine_.on_side_band(trace::ThreadExit{task.pid, tid, 0});
  tasks_.erase(tid);
}

void Tasks::flush() {
  for (auto& [tid, task] : tasks_)
    if (task.state != State::stepping) end_block(task, task.registers.registers.rip);
  machine_.catch_up();
  if (cgroups_matter_) follow_cgroups();
}

/// The task whose turn it is, up to the end of its turn; then the one behind it.
WatchedTask* Tasks::next_ready() {
  WatchedTask* const present = find(turn_tid_);
  if (present != nullptr && present->state == State::ready && steps_ < turn_end_) return present;
  auto candidate = tasks_.upper_bound(turn_tid_);
  for (std::size_t n = 0; n < tasks_.size(); ++n, ++candidate) {
    if (candidate == tasks_.end()) candidate = tasks_.begin();
    if (candidate->second.state != State::ready) continue;
    turn_tid_ = candidate->first;
    turn_end_ = steps_ + turn_steps;
    if (cgroups_matter_) follow_cgroups();
    return &candidate->second;
  }
  return nullptr;
}

bool Tasks::step() {
  WatchedTask* const task = next_ready();
  if (task == nullptr) return false;
  ++steps_;
  go(*task);
  return true;
}

void Tasks::go(WatchedTask& task) {
  if (task.signal != 0 && task.handler_follows) return step_into_handler(task);
  if (task.call_comes_again) {
    task.state = State::reaching_call;
    trace::run_to_call(task.tid, std::exchange(task.signal, 0));
    return;
  }
  if (faults_counted_ && !task.faults) task.faults = PageFaults::of(task.tid);
  if (task.faults) task.faults->code_is_read(task.registers.registers.rip);
  const trace::LiveInstruction* const live =
      task.in_rep ? task.stepping
                  : task.space->instruction_at(task.pid, task.registers.registers.rip, store_);
  if (task.faults && live != nullptr) task.faults->executes(live->instruction.ip, live->instruction.end());
  if (live != nullptr && live->system_call) {
    task.stepping = live;
    return step_into_call(task);
  }
  step_instruction(task, live);
}

void Tasks::step_into_handler(WatchedTask& task) {
  // A SIGTRAP that is not kept back is not blocked.
  if (task.trap && task.signal != SIGTRAP) task.trap->show_mask(task.tid);
  task.entering_handler = true;
  task.state = State::stepping;
  const u32 tid = task.tid;
  trace::single_step(tid, std::exchange(task.signal, 0));
  wait_for_step(tid);
}

/// The instruction retires before the kernel does its part: what the call does to events counts from the next
/// one on. It is left to itself, since it may wait for anything.
void Tasks::step_into_call(WatchedTask& task) {
  const trace::LiveInstruction& live = *std::exchange(task.stepping, nullptr);
  trace::ThreadState& state = task.registers;
  task.call_number = state.registers[Gpr::rax];
  if (state.trap_flag_shown && !task.own_trap_flag) trace::clear_trap_flag(task.tid, state.registers.rflags);
  task.block.expect(live, state.registers, state.fs_base, state.gs_base);
  const Registers before = state.registers;
  state.registers.rip = live.instruction.end();
  add_to_block(task, live, 0);
  take_faults(task, before);
  end_block(task, live.instruction.end());
  task.state = State::reaching_call;
  trace::run_to_call(task.tid, std::exchange(task.signal, 0));
}

void Tasks::step_instruction(WatchedTask& task, const trace::LiveInstruction* live) {
  const Registers& registers = task.registers.registers;
  if (!task.in_rep && live != nullptr) {
    task.block.expect(*live, registers, task.registers.fs_base, task.registers.gs_base);
    task.rep_rcx = registers[Gpr::rcx];
  }
  task.stepping = live;
  task.state = State::stepping;
  const u32 tid = task.tid;
  if (task.signal == 0 && live != nullptr && trace::execute_cpuid(tid, live->code()))
    return changed(tid, W_STOPCODE(SIGTRAP));
  trace::single_step(tid, std::exchange(task.signal, 0));
  wait_for_step(tid);
}

/// Short, unless the instruction waits for another task (a page that a program fills in): the interval timer
/// ends the wait then.
void Tasks::wait_for_step(u32 tid) {
  while (true) {
    int status = 0;
    const pid_t child = ::waitpid(-1, &status, __WALL);
    if (child < 0) return;
    changed(static_cast<u32>(child), status);
    const WatchedTask* const task = find(tid);
    if (task == nullptr || task->state != State::stepping) return;
  }
}

void Tasks::collect() {
  int status = 0;
  for (pid_t child = 0; (child = ::waitpid(-1, &status, __WALL | WNOHANG)) > 0;)
    changed(static_cast<u32>(child), status);
}

void Tasks::end_block(WatchedTask& task, u64 next_ip) {
  if (task.block.empty()) return;
  make_current(task);
  machine_.run(task.block, next_ip);
  for (const FaultedAt& faulted : std::exchange(task.faulted, {}))
    machine_.fault(faulted.count, faulted.before);
}

void Tasks::make_current(const WatchedTask& task) {
  if (current_tid_ == task.tid) return;
  current_tid_ = task.tid;
  machine_.on_side_band(trace::ThreadSwitch{task.pid, task.tid});
}

/// A task that does not stop soon, because it cannot, goes on with this process's end.
void Tasks::release_all() {
  constexpr int patience_ms = 500;
  for (auto& [tid, task] : tasks_) {
    task.interest = Interest::none;
    if (task.state != State::ready) interrupt(tid);
  }
  for (int ms = 0; ms < patience_ms && !tasks_.empty(); ++ms) {
    std::vector<u32> ready;
    for (const auto& [tid, task] : tasks_)
      if (task.state == State::ready) ready.push_back(tid);
    for (const u32 tid : ready) settle(*find(tid));
    if (!tasks_.empty()) ::usleep(1000);
    collect();
  }
}

}  // namespace pmusim::live
