// What each stop of a traced thread means (ptrace(2)), and what the trace gets of it.
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>

#include "trace/recording.h"

namespace pmusim::trace {
namespace {

constexpr u64 code_segment_32 = 0x23;

// ERESTARTSYS and its kin: the kernel's own, programs never see them.
bool is_restart(u64 rax) {
  const i64 result = static_cast<i64>(rax);
  return result <= -512 && result >= -516;
}

bool changes_maps(u64 call) {
  switch (call) {
    case SYS_mmap:
    case SYS_mprotect:
    case SYS_munmap:
    case SYS_brk:
    case SYS_mremap:
    case SYS_shmat:
    case SYS_shmdt:
    case SYS_remap_file_pages:
    case SYS_pkey_mprotect:
      return true;
    default:
      return false;
  }
}

bool stops_programs(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

std::string command_of(u32 tid) {
  std::string name = proc_file(tid, "comm");
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

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
      single_step(tid, 0);
      return;
    default:
      break;
  }
  if (WSTOPSIG(status) == SIGTRAP) {
    trapped(thread);
  } else {
    signalled(thread, WSTOPSIG(status));
  }
}

void Recording::trapped(Thread& thread) {
  auto after = thread_state(thread.tid);
  if (!after) return;  // killed: its exit follows
  if (std::exchange(thread.entering, false)) {
    thread.state = *after;
    thread.ready = true;
  } else if (thread.delivering != 0 && thread.handler_follows) {
    enter_handler(thread, *after);
  } else if (thread.stepping == nullptr) {
    end_block(thread, thread.state.registers.rip);
    ++summary_.gaps;
    thread.state = *after;
    thread.ready = true;
  } else if (is_own_trap(thread, *after)) {
    retire(thread, *after);
  } else if (after->registers.rip == thread.state.registers.rip) {
    signalled(thread, SIGTRAP);
  } else {  // it came with a breakpoint instruction or a system call, which have executed
    retire(thread, *after);
    signalled(thread, SIGTRAP);
  }
}

// Tells the trap of the step from a SIGTRAP of the program's own. Asking costs a system call, so it is asked
// only where that is possible.
bool Recording::is_own_trap(const Thread& thread, const ThreadState& after) const {
  const bool moved = after.registers.rip != thread.state.registers.rip || thread.stepping->instruction.rep;
  if (moved && !thread.stepping->system_call && !thread.stepping->breakpoint) return true;
  const auto code = signal_code(thread.tid);
  return !code || (*code != SI_KERNEL && *code != SI_USER && *code != SI_TKILL && *code != SI_QUEUE);
}

// A signal stop comes before the next instruction: nothing has retired.
void Recording::signalled(Thread& thread, int signal) {
  thread.ready = true;
  thread.in_rep = false;
  if (!thread.restarting) {
    thread.block.not_retired();
    thread.stepping = nullptr;
  }
  if (stops_programs(signal)) return;
  thread.signal = signal;
  thread.handler_follows = has_handler(thread.tid, signal);
}

void Recording::enter_handler(Thread& thread, const ThreadState& after) {
  const u64 interrupted = thread.state.registers.rip;
  if (thread.restarting) finish_call(thread, interrupted, -EINTR);
  end_block(thread, interrupted);
  make_current(thread);
  happen(SignalDelivery{static_cast<u32>(thread.delivering), after.registers.rip});
  thread.state = after;
  thread.ready = true;
}

void Recording::started_thread(Thread& parent, u32 tid) {
  int status = 0;
  if (early_.erase(tid) == 0) ::waitpid(static_cast<pid_t>(tid), &status, __WALL);
  auto state = thread_state(tid);
  if (!state) return;
  state->registers[Gpr::r11] &= ~trap_flag;
  hide_trap_flag_in_r11(tid);
  Thread& child = threads_[tid];
  child.tid = tid;
  child.pid = process_of(tid);
  child.state = *state;
  child.ready = true;
  const bool same_process = child.pid == parent.pid;
  child.space = same_process ? parent.space : std::make_shared<AddressSpace>(*parent.space);
  ++summary_.threads;
  if (!same_process) ++summary_.processes;
  happen(ThreadStart{child.pid, tid, parent.pid, parent.tid});
}

void Recording::executed_program(u32 tid) {
  const u32 former = event_message(tid);
  if (former != tid && threads_.contains(former)) {  // a thread's exec: it takes over its process's id
    finish_call(threads_[former], threads_[former].state.registers.rip, 0);
    happen(ThreadExit{tid, former, 0});
    Thread renamed = std::move(threads_[former]);
    renamed.tid = tid;
    threads_.erase(former);
    threads_.insert_or_assign(tid, std::move(renamed));
  }
  const auto state = thread_state(tid);
  if (!state) return;
  if (state->code_segment == code_segment_32) return fail(Error("32-bit programs cannot be recorded"));
  Thread& thread = threads_[tid];
  if (thread.stepping != nullptr) finish_call(thread, state->registers.rip, 0);
  thread.state = *state;
  thread.space = std::make_shared<AddressSpace>();
  thread.entering = true;
  thread.restarting = false;
  thread.ready = false;
  happen(ProcessStart{thread.pid, tid, command_of(tid), true});
  current_tid_ = 0;
  refresh_maps(thread);
  single_step(tid, 0);
}

void Recording::gone(Thread& thread, int status) {
  if (thread.stepping != nullptr && thread.stepping->system_call) {
    finish_call(thread, thread.stepping->instruction.end(), 0);
  }
  thread.block.not_retired();
  end_block(thread, thread.state.registers.rip);
  happen(ThreadExit{thread.pid, thread.tid, status});
  if (thread.tid == first_pid_) summary_.status = status;
  if (thread.tid == current_tid_) current_tid_ = 0;
  threads_.erase(thread.tid);
}

void Recording::retire(Thread& thread, const ThreadState& after) {
  const LiveInstruction& live = *thread.stepping;
  thread.ready = true;
  if (live.instruction.rep && next_iteration(thread, after)) return;
  thread.state = after;
  Registers& registers = thread.state.registers;
  if (live.system_call && is_restart(registers[Gpr::rax])) {
    thread.restarting = true;
    return;
  }
  if (live.pushes_flags) hide_trap_flag_at(thread.tid, registers[Gpr::rsp]);
  if (live.system_call && thread.call_number != SYS_rt_sigreturn) {
    registers[Gpr::r11] &= ~trap_flag;
    hide_trap_flag_in_r11(thread.tid);
  }
  if (live.system_call) return finish_call(thread, registers.rip, static_cast<i64>(registers[Gpr::rax]));

  const u64 count = thread.rep_rcx - registers[Gpr::rcx];
  thread.block.retired(live, static_cast<u32>(count), registers);
  ++instructions_;
  thread.stepping = nullptr;
  thread.in_rep = false;
  const bool goes_on = live.instruction.branch == BranchKind::none && registers.rip == live.instruction.end();
  if (!goes_on || thread.block.full()) end_block(thread, registers.rip);
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
  thread.block.retired(*thread.stepping, 0, thread.state.registers);
  ++instructions_;
  thread.stepping = nullptr;
  thread.restarting = false;
  end_block(thread, next_ip);
  happen(Syscall{thread.call_number, result});
  if (changes_maps(thread.call_number)) refresh_maps(thread);
}

void Recording::end_block(Thread& thread, u64 next_ip) {
  if (thread.block.empty()) return;
  make_current(thread);
  const auto written = blocks_.write(thread.block, next_ip);
  if (!written.ok()) fail(written.error());
}

void Recording::refresh_maps(Thread& thread) {
  for (const Happening& happening : thread.space->refresh(thread.pid)) happen(happening);
}

void Recording::make_current(const Thread& thread) {
  if (current_tid_ == thread.tid) return;
  current_tid_ = thread.tid;
  happen(ThreadSwitch{thread.pid, thread.tid});
}

void Recording::happen(const Happening& happening) {
  const auto written = writer_.happening(happening);
  if (!written.ok()) fail(written.error());
}

void Recording::fail(const Error& error) {
  if (!error_) error_ = error;
}

}  // namespace pmusim::trace
