// SPDX-License-Identifier: MIT
// What each stop of a traced thread means (ptrace(2)), and what the trace gets of it.
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>

#include "trace/process_maps.h"
#include "trace/recording.h"

namespace pmusim::trace {
namespace {

constexpr u64 code_segment_32 = 0x23;

}  // namespace

void Recording::stopped(u32 tid, int status) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) {
    if (WIFSTOPPED(status)) early_.insert(tid);
    return;
  }
  Thread& thread = found->second;
  if (!WIFSTOPPED(status)) return gone(thread, status);
  switch (status >> 16) {
    case PTRACE_EVENT_EXEC:
      return executed_program(tid);
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
      started_thread(thread, event_message(tid));
      run_to_call(tid, 0);
      return;
    default:
      break;
  }
  if (WSTOPSIG(status) == call_stop) {
    at_call(thread);
  } else if (WSTOPSIG(status) == SIGTRAP) {
    trapped(thread);
  } else {
    signalled(thread, WSTOPSIG(status));
  }
}

// Before a system call, and after it.
void Recording::at_call(Thread& thread) {
  const auto now = thread_state(thread.tid);
  if (!now) return;  // killed: its exit follows
  thread.in_call = !thread.in_call;
  if (thread.in_call) {
    thread.disguise.enter_call(thread.tid, thread.call_number, now->registers);
    run_to_call(thread.tid, 0);
    return;
  }
  thread.disguise.leave_call(thread.tid, thread.call_number, now->registers);
  const auto after = thread_state(thread.tid);  // with the result that it is to have
  if (!after) return;
  if (!std::exchange(thread.entering, false)) return retire(thread, *after);
  thread.state = *after;
  thread.ready = true;
}

void Recording::trapped(Thread& thread) {
  auto after = thread_state(thread.tid);
  if (!after) return;  // killed: its exit follows
  if (thread.delivering != 0 && thread.handler_follows) {
    enter_handler(thread, *after);
  } else if (thread.stepping == nullptr) {
    end_block(thread, thread.state.registers.rip);
    ++summary_.gaps;
    thread.state = *after;
    thread.ready = true;
  } else if (is_of_step(thread.tid, thread.state.registers, after->registers)) {
    const bool also_of_program = traps_behind(*thread.stepping, thread.own_trap_flag);
    retire(thread, *after);
    if (also_of_program) trap_of_program(thread);
  } else {
    signalled(thread, SIGTRAP);
  }
}

// The kernel forces this one: blocked or ignored, it ends the program.
void Recording::trap_of_program(Thread& thread) {
  thread.signal = SIGTRAP;
  thread.handler_follows = has_handler(thread.tid, SIGTRAP);
}

// A signal stop comes before the next instruction: nothing has retired.
void Recording::signalled(Thread& thread, int signal) {
  thread.ready = true;
  thread.in_rep = false;
  if (!thread.restarting) {
    thread.block.not_retired();
    thread.stepping = nullptr;
  }
  if (stops_programs(signal) || (signal == SIGTRAP && thread.disguise.keeps_back_trap(thread.tid))) return;
  thread.signal = signal;
  thread.handler_follows = has_handler(thread.tid, signal);
}

void Recording::enter_handler(Thread& thread, const ThreadState& after) {
  const u64 interrupted = thread.state.registers.rip;
  if (thread.restarting) finish_call(thread, interrupted, -EINTR);
  end_block(thread, interrupted);
  make_current(thread);
  add_side_band(SignalDelivery{static_cast<u32>(thread.delivering), after.registers.rip});
  thread.state = after;
  take_extended(thread);
  thread.ready = true;
  thread.disguise.hide_mask(thread.tid);
  if (!thread.own_trap_flag) hide_trap_flag_in_frame(thread.tid, after.registers[Gpr::rsp]);
  thread.own_trap_flag = false;
}

void Recording::started_thread(Thread& parent, u32 tid) {
  int status = 0;
  if (early_.erase(tid) == 0) wait_on(static_cast<pid_t>(tid), status, __WALL);
  auto state = thread_state(tid);
  if (!state) return;
  const u32 pid = process_of(tid);
  const bool same_process = pid == parent.pid;
  Thread& child =
      threads_
          .emplace(tid, Thread(pid, tid,
                               same_process ? parent.disguise.of_thread() : parent.disguise.of_process()))
          .first->second;
  child.disguise.hide_mask(tid);
  child.own_trap_flag = parent.own_trap_flag;
  child.state = *state;
  take_extended(child);
  child.ready = true;
  child.space = same_process ? parent.space : std::make_shared<AddressSpace>(*parent.space);
  ++summary_.threads;
  if (!same_process) ++summary_.processes;
  add_side_band(ThreadStart{child.pid, tid, parent.pid, parent.tid});
}

// A thread's exec: all others of its process have ended, and it goes on under the process's id.
void Recording::take_over_leader(u32 former, u32 tid) {
  const auto leader = threads_.find(tid);
  if (leader != threads_.end()) {
    leave_unfinished(leader->second);
    threads_.erase(leader);
  }
  const auto found = threads_.find(former);
  if (found == threads_.end()) return;
  finish_call(found->second, found->second.state.registers.rip, 0);
  add_side_band(ThreadExit{tid, former, 0});
  Thread renamed = std::move(found->second);
  renamed.tid = tid;
  threads_.erase(found);
  threads_.emplace(tid, std::move(renamed));
}

void Recording::executed_program(u32 tid) {
  const u32 former = event_message(tid);
  if (former != tid) take_over_leader(former, tid);
  const auto state = thread_state(tid);
  if (!state) return;
  if (state->code_segment == code_segment_32) return fail(Error("32-bit programs cannot be recorded"));
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return;
  Thread& thread = found->second;
  if (thread.stepping != nullptr) finish_call(thread, state->registers.rip, 0);
  thread.state = *state;
  take_extended(thread);
  thread.space = std::make_shared<AddressSpace>();
  thread.entering = true;
  thread.own_trap_flag = false;
  thread.ready = false;
  add_side_band(ProcessStart{thread.pid, tid, command_of(tid), true});
  current_tid_ = 0;
  refresh_maps(thread);
  if (auto program = program_without_rights(thread.pid))
    summary_.without_rights.push_back(*std::move(program));
  run_to_call(tid, 0);
}

// The thread ends where it is: a system call that it is in does not return.
void Recording::leave_unfinished(Thread& thread) {
  if (thread.stepping != nullptr && thread.stepping->system_call)
    finish_call(thread, thread.stepping->instruction.end(), 0);
  thread.block.not_retired();
  end_block(thread, thread.state.registers.rip);
}

void Recording::gone(Thread& thread, int status) {
  leave_unfinished(thread);
  add_side_band(ThreadExit{thread.pid, thread.tid, status});
  if (thread.tid == first_pid_) {
    summary_.status = status;
    first_ended_ = true;
  }
  if (thread.tid == current_tid_) current_tid_ = 0;
  threads_.erase(thread.tid);
}

void Recording::retire(Thread& thread, const ThreadState& after) {
  const LiveInstruction& live = *thread.stepping;
  thread.ready = true;
  if (live.instruction.rep && next_iteration(thread, after)) return;
  thread.state = after;
  Registers& registers = thread.state.registers;
  if (live.system_call && thread.call_number != SYS_rt_sigreturn && is_restart(registers[Gpr::rax])) {
    thread.restarting = true;
    return;
  }
  if (live.pushes_flags && !thread.own_trap_flag) hide_trap_flag_at(thread.tid, registers[Gpr::rsp]);
  if (live.system_call && thread.call_number == SYS_rt_sigreturn)
    thread.own_trap_flag = after.trap_flag_shown;
  if (live.system_call) return finish_call(thread, registers.rip, static_cast<i64>(registers[Gpr::rax]));

  const u64 count = thread.rep_rcx - registers[Gpr::rcx];
  add_to_block(thread, live, static_cast<u32>(count));
  ++instructions_;
  thread.stepping = nullptr;
  thread.in_rep = false;
  if (live.pops_flags) thread.own_trap_flag = after.trap_flag_shown;
  const bool goes_on = live.instruction.branch == BranchKind::none && registers.rip == live.instruction.end();
  if (!goes_on || thread.block.full()) end_block(thread, registers.rip);
}

void Recording::add_to_block(Thread& thread, const LiveInstruction& live, u32 rep_count) {
  if (xstate_ && thread.block.empty()) thread.block.begin_extended(thread.extended);
  thread.block.retired(live, rep_count, thread.state.registers);
  if (!xstate_) return;
  if (!live.may_change_extended && !(live.moves_shadow_stack && has_shadow_stack(thread.extended))) return;
  const ExtendedState before = thread.extended;
  take_extended(thread);
  thread.block.change_extended(before, thread.extended);
}

// A thread that is gone keeps what it had.
void Recording::take_extended(Thread& thread) {
  if (!xstate_) return;
  if (const auto now = xstate_->read(thread.tid)) thread.extended = *now;
}

// A REP instruction traps after each iteration; it retires once.
bool Recording::next_iteration(Thread& thread, const ThreadState& after) {
  if (after.registers.rip != thread.stepping->instruction.ip) return false;
  thread.state = after;
  thread.in_rep = true;
  return true;
}

// The call in progress is over, with `next_ip` where the thread goes on.
void Recording::finish_call(Thread& thread, u64 next_ip, i64 result) {
  if (thread.stepping == nullptr) return;
  add_to_block(thread, *thread.stepping, 0);
  ++instructions_;
  thread.stepping = nullptr;
  thread.restarting = false;
  end_block(thread, next_ip);
  add_side_band(Syscall{thread.call_number, result});
  if (changes_maps(thread.call_number)) refresh_maps(thread);
}

void Recording::end_block(Thread& thread, u64 next_ip) {
  if (thread.block.empty()) return;
  if (gate_.decides() && !admits_block(thread)) return thread.block.clear();
  make_current(thread);
  const auto written = blocks_.write(thread.block, next_ip);
  if (!written.ok()) fail(written.error());
}

// Regions begin and end between blocks. A block that ends one is still in it.
bool Recording::admits_block(const Thread& thread) {
  gate_.reach(thread.block.start());
  const bool admitted = gate_.is_open();
  if (!admitted) left_out_ += thread.block.size();
  gate_.executed(thread.block.code(), thread.block.size(), writer_.stored_bytes());
  return admitted;
}

void Recording::refresh_maps(Thread& thread) {
  for (const SideBandRecord& record : thread.space->refresh(thread.pid)) add_side_band(record);
}

void Recording::make_current(const Thread& thread) {
  if (current_tid_ == thread.tid || !gate_.is_open()) return;
  current_tid_ = thread.tid;
  add_side_band(ThreadSwitch{thread.pid, thread.tid});
}

void Recording::add_side_band(const SideBandRecord& record) {
  if (gate_.decides()) {
    if (const auto* const map = std::get_if<Map>(&record)) gate_.mapped(map->mapping);
    if (!gate_.admits(record)) return;
  }
  const auto written = writer_.side_band(record);
  if (!written.ok()) fail(written.error());
}

void Recording::fail(const Error& error) {
  if (!error_) error_ = error;
}

}  // namespace pmusim::trace
