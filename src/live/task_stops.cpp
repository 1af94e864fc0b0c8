// SPDX-License-Identifier: MIT
// What each stop of a watched task means (ptrace(2)), and what retires with it.
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>

#include "live/processes.h"
#include "live/ptrace.h"
#include "live/tasks.h"
#include "trace/process_maps.h"

namespace pmusim::live {
namespace {

/// Whether the kernel is going to repeat the system call that the task is just leaving.
bool leaves_call_unfinished(u32 tid) {
  const auto registers = all_registers(tid);
  return registers && static_cast<i64>(registers->orig_rax) >= 0 && trace::is_restart(registers->rax);
}

/// Between cgroups: by writing to a file.
bool may_move_tasks(u64 call) {
  switch (call) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendfile:
    case SYS_splice:
      return true;
    default:
      return false;
  }
}

bool has_other_threads(u32 pid) { return threads_of(pid).size() > 1; }

}  // namespace

void Tasks::changed(u32 tid, int status) {
  WatchedTask* const task = find(tid);
  if (WIFSTOPPED(status)) {
    if (task != nullptr)
      stopped(*task, status);
    else if (status >> 16 == PTRACE_EVENT_EXIT)
      trace::run_freely(tid, 0);
    else
      early_.insert(tid);
    return;
  }
  early_.erase(tid);
  if (task != nullptr) gone(*task);
}

void Tasks::stopped(WatchedTask& task, int status) {
  const int signal = WSTOPSIG(status);
  switch (status >> 16) {
    case PTRACE_EVENT_EXEC:
      return executed(task.tid);
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
      started(task, trace::event_message(task.tid));
      return goes_on(task);
    case PTRACE_EVENT_EXIT:
      ends(task);
      return trace::run_freely(task.tid, 0);
    case PTRACE_EVENT_STOP:
      return trace::stops_programs(signal) ? stopped_with_group(task, signal) : between_instructions(task);
    default:
      break;
  }
  if (signal == trace::call_stop)
    at_call(task);
  else if (signal == SIGTRAP && task.state == State::stepping)
    stepped(task);
  else
    signalled(task, signal);
}

/// It stays stopped until SIGCONT comes.
void Tasks::stopped_with_group(WatchedTask& task, int signal) {
  task.block.not_retired();
  if (task.interest == Interest::none) {
    if (task.trap) task.trap->give_back(task.tid);
    trace::let_go(task.tid, signal);
    return forget(task);
  }
  task.state = State::group_stopped;
  listen(task.tid);
}

/// As it went before the stop.
void Tasks::goes_on(WatchedTask& task) {
  if (task.state == State::native)
    trace::run_freely(task.tid, 0);
  else
    trace::run_to_call(task.tid, 0);
}

void Tasks::at_call(WatchedTask& task) {
  if (task.state == State::in_call) return left_call(task);
  task.state = State::in_call;
  if (task.trap)
    if (const auto now = trace::thread_state(task.tid))
      task.trap->enter_call(task.tid, task.call_number, now->registers);
  trace::run_to_call(task.tid, 0);
}

void Tasks::left_call(WatchedTask& task) {
  const auto after = trace::thread_state(task.tid);
  if (!after) return;  // killed: its end follows
  if (task.trap) task.trap->leave_call(task.tid, task.call_number, after->registers);
  if (task.call_number == SYS_rt_sigreturn) task.own_trap_flag = after->trap_flag_shown;
  if (trace::changes_maps(task.call_number)) tell_of_maps(task);
  task.call_comes_again = leaves_call_unfinished(task.tid);
  task.registers = *after;
  take_extended(task);
  task.state = State::ready;
  if (cgroups_matter_ && may_move_tasks(task.call_number)) follow_cgroups();
  settle(task);
}

/// It has run by itself up to here, or waited; nothing retires with this stop.
void Tasks::between_instructions(WatchedTask& task) {
  const auto now = trace::thread_state(task.tid);
  if (!now) return;
  const bool from_afar = task.state == State::native;
  task.asked_to_stop = false;
  if (from_afar || !faults_counted_) task.faults.reset();
  if (from_afar) task.own_trap_flag = now->trap_flag_shown;
  task.block.not_retired();
  task.stepping = nullptr;
  task.in_rep = false;
  task.call_comes_again = leaves_call_unfinished(task.tid);
  task.registers = *now;
  take_extended(task);
  task.state = State::ready;
  if (from_afar && task.space != nullptr) tell_of_maps(task);
  settle(task);
}

/// What was mapped while nobody looked is known to whoever opened events on a running task.
void Tasks::learn_maps(WatchedTask& task) {
  for (const auto& [tid, other] : tasks_)
    if (other.pid == task.pid && other.space != nullptr) task.space = other.space;
  if (task.space != nullptr) return;
  task.space = std::make_shared<trace::AddressSpace>();
  task.space->refresh(task.pid);
}

void Tasks::tell_of_maps(WatchedTask& task) {
  if (task.space == nullptr) return;
  for (const trace::SideBandRecord& record : task.space->refresh(task.pid)) {
    make_current(task);
    machine_.on_side_band(record);
  }
}

void Tasks::stepped(WatchedTask& task) {
  const auto after = trace::thread_state(task.tid);
  if (!after) return;
  task.state = State::ready;
  if (std::exchange(task.entering_handler, false)) {
    end_block(task, task.registers.registers.rip);
    make_current(task);
    machine_.on_side_band(trace::SignalDelivery{0, after->registers.rip});
    if (!std::exchange(task.own_trap_flag, false))
      trace::hide_trap_flag_in_frame(task.tid, after->registers[Gpr::rsp]);
    if (task.trap) task.trap->hide_mask(task.tid);
    task.call_comes_again = false;
    task.registers = *after;
    take_extended(task);
  } else if (task.stepping == nullptr) {  // the vsyscall page: nobody can tell what retired
    end_block(task, task.registers.registers.rip);
    task.registers = *after;
  } else if (trace::is_of_step(task.tid, task.registers.registers, after->registers)) {
    const Registers before = task.registers.registers;
    retire(task, *after);
    take_faults(task, before);
  } else {
    return signalled(task, SIGTRAP);
  }
  settle(task);
}

void Tasks::retire(WatchedTask& task, const trace::ThreadState& after) {
  const trace::LiveInstruction& live = *task.stepping;
  const u64 start = live.instruction.ip;
  task.in_rep = live.instruction.rep && after.registers.rip == start;
  task.registers = after;
  if (task.in_rep) return;  // a REP instruction traps after each iteration; it retires once
  Registers& registers = task.registers.registers;
  if (live.pushes_flags && !task.own_trap_flag) trace::hide_trap_flag_at(task.tid, registers[Gpr::rsp]);
  add_to_block(task, live, static_cast<u32>(task.rep_rcx - registers[Gpr::rcx]));
  const bool raises_trap = trace::traps_behind(live, task.own_trap_flag);
  if (live.pops_flags) task.own_trap_flag = after.trap_flag_shown;
  const bool falls_through =
      live.instruction.branch == BranchKind::none && registers.rip == live.instruction.end();
  task.stepping = nullptr;
  if (!falls_through || task.block.full()) end_block(task, registers.rip);
  if (!raises_trap) return;
  task.signal = SIGTRAP;  // the program's own
  task.handler_follows = trace::has_handler(task.tid, SIGTRAP);
}

/// The task's registers are those that the instruction has left.
void Tasks::add_to_block(WatchedTask& task, const trace::LiveInstruction& live, u32 rep_count) {
  if (xstate_ && task.block.empty()) task.block.begin_extended(task.extended);
  task.block.retired(live, rep_count, task.registers.registers);
  const bool changes =
      live.may_change_extended || (live.moves_shadow_stack && trace::has_shadow_stack(task.extended));
  if (!xstate_ || !changes) return;
  const ExtendedState before = task.extended;
  if (const auto now = xstate_->read(task.tid)) task.extended = *now;
  task.block.change_extended(before, task.extended);
}

/// Where they may be others than the last instruction has left. A task that is gone keeps what it had.
void Tasks::take_extended(WatchedTask& task) {
  if (!xstate_) return;
  if (const auto now = xstate_->read(task.tid)) task.extended = *now;
  machine_.monitor().lose_extended();
}

/// They are counted with the block, so that it is the one that it would be without them.
void Tasks::take_faults(WatchedTask& task, const Registers& before) {
  if (!task.faults || task.in_rep) return;
  const PageFaults::Count count = task.faults->take();
  if (count.all == 0) return;
  if (!task.block.empty()) return task.faulted.push_back({count, before});
  make_current(task);
  machine_.fault(count, before);
}

/// It comes before the next instruction: nothing has retired.
void Tasks::signalled(WatchedTask& task, int signal) {
  if (task.state == State::native)
    return trace::run_freely(task.tid, signal == SIGTRAP && ignores_trap(task) ? 0 : signal);
  const auto now = trace::thread_state(task.tid);
  if (!now) return;
  task.block.not_retired();
  task.stepping = nullptr;
  task.in_rep = false;
  task.entering_handler = false;
  task.call_comes_again = leaves_call_unfinished(task.tid);
  task.registers = *now;
  const bool kept_back = signal == SIGTRAP && task.trap && task.trap->keeps_back_trap(task.tid);
  task.signal = kept_back ? 0 : signal;
  task.handler_follows = !kept_back && trace::has_handler(task.tid, signal);
  task.state = State::ready;
  settle(task);
}

void Tasks::started(WatchedTask& parent, u32 tid) {
  if (tid == 0 || find(tid) != nullptr) return;
  end_block(parent, parent.registers.registers.rip);
  machine_.catch_up();
  const u32 parent_tid = parent.tid;
  WatchedTask& child = tasks_[tid];
  child.pid = trace::process_of(tid);
  child.tid = tid;
  child.asked_to_stop = true;  // it begins with a stop
  if (parent.space != nullptr)
    child.space =
        child.pid == parent.pid ? parent.space : std::make_shared<trace::AddressSpace>(*parent.space);
  if (parent.trap)
    child.trap = child.pid == parent.pid ? parent.trap->of_thread() : parent.trap->of_process();
  child.own_trap_flag = parent.own_trap_flag;
  child.is_restricted = parent.is_restricted;
  child.cgroup = parent.cgroup;
  machine_.on_side_band(trace::ThreadStart{child.pid, tid, parent.pid, parent_tid});
  if (cgroups_matter_) follow_cgroup(child);  // CLONE_INTO_CGROUP
  follow_events();
  if (early_.erase(tid) != 0) between_instructions(*find(tid));
}

/// A thread's exec: all others of its process have ended, and it goes on under the process's id.
void Tasks::take_over_leader(u32 former, u32 tid) {
  if (WatchedTask* const leader = find(tid); leader != nullptr) gone(*leader);
  const auto found = tasks_.find(former);
  if (found == tasks_.end()) return;
  machine_.on_side_band(trace::ThreadExit{found->second.pid, former, 0});
  tasks_.erase(found);
}

void Tasks::executed(u32 tid) {
  const u32 former = trace::event_message(tid);
  if (former != tid) take_over_leader(former, tid);
  WatchedTask* task = find(tid);
  if (task == nullptr && !cpus_watched_)
    return trace::let_go(tid, 0);  // its events have gone with the thread
  if (task == nullptr) task = &add(tid);
  std::erase_if(observers_, [&](const auto& entry) { return entry.second == task->pid; });
  machine_.execute({.pid = task->pid, .tid = tid, .command = trace::command_of(tid), .exec = true});
  task->space = std::make_shared<trace::AddressSpace>();
  task->faults.reset();
  task->stepping = nullptr;
  task->own_trap_flag = false;
  task->call_number = SYS_execve;
  task->state = State::in_call;
  follow_events();
  tell_of_maps(*task);
  trace::run_to_call(tid, 0);
}

/// Before its parent hears of it: a reader of its events takes what is there then, and nothing later.
void Tasks::ends(WatchedTask& task) {
  task.block.not_retired();
  end_block(task, task.registers.registers.rip);
  if (current_tid_ == task.tid) current_tid_ = 0;
  machine_.on_side_band(trace::ThreadExit{task.pid, task.tid, 0});
  task.state = State::ending;
  // Nothing more comes of a leader that leaves its threads behind until these have ended.
  if (task.tid == task.pid && has_other_threads(task.pid)) ++ended_;
}

void Tasks::gone(WatchedTask& task) {
  if (task.state != State::ending) ends(task);  // killed in a way that left no time
  ++ended_;
  tasks_.erase(task.tid);
  receive_orphans();
}

/// A parent that was killed cannot tell of its child any more.
void Tasks::receive_orphans() {
  std::vector<u32> orphans;
  for (const u32 tid : early_)
    if (const TaskStatus child = status_of(tid); !is_watched(child.process) && !is_watched(child.parent))
      orphans.push_back(tid);
  for (const u32 tid : orphans) {
    early_.erase(tid);
    if (!cpus_watched_) {
      trace::let_go(tid, 0);
      continue;
    }
    add(tid);
    follow_events();
    between_instructions(*find(tid));
  }
}

bool Tasks::is_watched(u32 pid) const {
  return std::ranges::any_of(tasks_, [=](const auto& entry) { return entry.second.pid == pid; });
}

}  // namespace pmusim::live
