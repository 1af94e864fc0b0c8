// SPDX-License-Identifier: MIT
#include "trace/recording.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>

#include <csignal>

namespace pmusim::trace {
namespace {

constexpr u64 turn_steps = 20'000;
constexpr u64 progress_instructions = 1u << 14;
constexpr int polls_of_a_system_call = 50;

}  // namespace

Recording::Recording(Writer& writer, Contents contents, const RecordingOptions& options)
    : writer_(writer), blocks_(writer, contents), options_(options), gate_(options.region) {
  if (contents.extended) xstate_.emplace();
}

Recording::~Recording() { leave_all(); }

Result<RecordingSummary, Error> Recording::run(u32 pid, const Disguise& disguise) {
  first_pid_ = pid;
  threads_.emplace(pid, Thread(pid, pid, disguise)).first->second.in_call = true;  // execve
  summary_.processes = summary_.threads = 1;
  executed_program(pid);
  return record_to_end();
}

Result<RecordingSummary, Error> Recording::record_to_end() {
  while (!threads_.empty() && !error_) {
    if (gate_.is_over()) {
      let_all_go();
      wait_for_first();
    } else if (stop_asked()) {
      stop_early();
    } else if (Thread* thread = next_thread()) {
      step(*thread);
    } else {
      wait_for_any();
    }
  }
  leave_all();
  if (error_) return Failure(*error_);
  summary_.instructions = instructions_ - left_out_;
  if (summary_.instructions == 0)
    if (const auto why = gate_.why_not_begun(); !why.empty())
      return Failure(Error(fmt::format("nothing was recorded: {}", why)));
  return summary_;
}

bool Recording::stop_asked() const {
  if (options_.stop != nullptr && *options_.stop) return true;
  return options_.max_instructions != 0 && instructions_ - left_out_ >= options_.max_instructions;
}

void Recording::stop_early() {
  summary_.stopped_early = true;
  summary_.status = spared_ ? 0 : SIGKILL;
  for (auto& [tid, thread] : threads_) {
    thread.block.not_retired();
    end_block(thread, thread.state.registers.rip);
    if (!spared_) add_side_band(ThreadExit{thread.pid, tid, SIGKILL});
  }
  leave_all();
}

// A thread's block stays open over the turns of others, so that blocks do not depend on who else runs.
Recording::Thread* Recording::next_thread() {
  const auto turn = threads_.find(turn_tid_);
  if (turn != threads_.end() && turn->second.ready && (steps_ < turn_end_ || threads_.size() == 1))
    return &turn->second;
  poll_busy_threads();
  const auto first = threads_.upper_bound(turn_tid_);
  auto candidate = first;
  for (std::size_t n = 0; n < threads_.size(); ++n) {
    if (candidate == threads_.end()) candidate = threads_.begin();
    if (candidate->second.ready) {
      turn_tid_ = candidate->first;
      turn_end_ = steps_ + turn_steps;
      return &candidate->second;
    }
    ++candidate;
  }
  return nullptr;
}

void Recording::step(Thread& thread) {
  thread.delivering = std::exchange(thread.signal, 0);
  if (thread.delivering == 0 || !thread.handler_follows) prepare_step(thread);
  thread.ready = false;
  ++steps_;
  const bool is_trap = thread.delivering == SIGTRAP;  // of the program's own, which nothing blocks
  if (thread.delivering != 0 && thread.handler_follows && !is_trap) thread.disguise.show_mask(thread.tid);
  if (thread.steps_into_call()) {
    const ThreadState& state = thread.state;
    if (state.trap_flag_shown && !thread.own_trap_flag) clear_trap_flag(thread.tid, state.registers.rflags);
    run_to_call(thread.tid, thread.delivering);
  } else if (thread.delivering == 0 && thread.stepping != nullptr &&
             execute_cpuid(thread.tid, thread.stepping->code())) {
    return stopped(thread.tid, W_STOPCODE(SIGTRAP));
  } else {
    single_step(thread.tid, thread.delivering);
  }
  wait_for(thread.tid, thread.stepping != nullptr && thread.stepping->system_call);
  if (options_.progress && instructions_ % progress_instructions == 0) options_.progress(instructions_);
}

void Recording::prepare_step(Thread& thread) {
  if (thread.in_rep || thread.restarting) return;
  const Registers& registers = thread.state.registers;
  thread.stepping = thread.space->instruction_at(thread.pid, registers.rip, store_);
  if (thread.stepping == nullptr) return;
  thread.block.expect(*thread.stepping, registers, thread.state.fs_base, thread.state.gs_base);
  thread.rep_rcx = registers[Gpr::rcx];
  thread.call_number = registers[Gpr::rax];
}

// A thread that sleeps in a system call while there are others is left to itself; it becomes ready in a later
// poll.
void Recording::wait_for(u32 tid, bool in_call) {
  for (int polls = 0; polls < polls_of_a_system_call; ++polls) {
    const bool may_sleep = in_call && threads_.size() > 1;
    int status = 0;
    const pid_t result = ::waitpid(static_cast<pid_t>(tid), &status, may_sleep ? __WALL | WNOHANG : __WALL);
    if (result < 0 && stop_asked()) return;
    if (result < 0 && errno != EINTR) return;  // its exec goes on under the id of its process
    if (result > 0) stopped(tid, status);
    const auto thread = threads_.find(tid);
    if (thread == threads_.end() || thread->second.ready) return;
    if (result == 0) ::sched_yield();
  }
}

void Recording::poll_busy_threads() {
  std::vector<u32> busy;
  for (const auto& [tid, thread] : threads_) {
    if (!thread.ready) busy.push_back(tid);
  }
  for (u32 tid : busy) {
    int status = 0;
    if (::waitpid(static_cast<pid_t>(tid), &status, __WALL | WNOHANG) > 0) stopped(tid, status);
  }
}

void Recording::wait_for_any() {
  int status = 0;
  const pid_t tid = ::waitpid(-1, &status, __WALL);
  if (tid > 0) {
    stopped(static_cast<u32>(tid), status);
  } else if (errno != EINTR) {
    threads_.clear();  // whatever they were, they are gone
  }
}

void Recording::leave_all() { spared_ ? let_all_go() : kill_all(); }

void Recording::kill_all() {
  for (const auto& [tid, thread] : threads_) ::kill(static_cast<pid_t>(thread.pid), SIGKILL);
  while (!threads_.empty()) {
    int status = 0;
    const pid_t tid = ::waitpid(-1, &status, __WALL);
    if (tid < 0 && errno != EINTR) threads_.clear();
    if (WIFEXITED(status) || WIFSIGNALED(status)) threads_.erase(static_cast<u32>(tid));
  }
}

}  // namespace pmusim::trace
