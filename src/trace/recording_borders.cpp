// SPDX-License-Identifier: MIT
// Where a recording begins in the middle of a program, and leaves it before its end.
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "trace/recording.h"

namespace pmusim::trace {

Result<RecordingSummary, Error> Recording::run_from(u32 first_pid, const std::map<u32, u32>& threads,
                                                    const cpu_set_t& cpus) {
  first_pid_ = first_pid;
  for (const auto& [tid, pid] : threads)
    if (tid == pid) adopt(pid, tid, cpus);
  for (const auto& [tid, pid] : threads)
    if (tid != pid) adopt(pid, tid, cpus);
  return record_to_end();
}

void Recording::adopt(u32 pid, u32 tid, const cpu_set_t& cpus) {
  go_back_before_call(tid);
  const auto state = thread_state(tid);
  if (!state) return;
  const auto sibling = threads_.find(pid);
  const bool is_first = sibling == threads_.end();
  Thread& thread = threads_
                       .emplace(tid, Thread(pid, tid,
                                            is_first ? Disguise(cpus, {ignores(pid, SIGTRAP)})
                                                     : sibling->second.disguise.of_thread()))
                       .first->second;
  thread.space = is_first ? std::make_shared<AddressSpace>() : sibling->second.space;
  thread.disguise.hide_mask(tid);
  thread.state = *state;
  thread.ready = true;
  take_extended(thread);
  ++summary_.threads;
  if (!is_first) return add_side_band(ThreadStart{pid, tid, pid, pid});
  if (summary_.processes++ != 0) add_side_band(ThreadStart{pid, tid, first_pid_, first_pid_});
  add_side_band(ProcessStart{pid, tid, command_of(tid), true});
  refresh_maps(thread);
}

void Recording::let_all_go() {
  summary_.let_go = summary_.let_go || !threads_.empty();
  std::vector<u32> running;
  for (auto& [tid, thread] : threads_) {
    if (!thread.ready) {
      running.push_back(tid);
      continue;
    }
    thread.disguise.show_mask(tid);
    let_go(tid, thread.signal);
  }
  for (const u32 tid : running) let_running_go(tid);
  threads_.clear();
}

// What it does before it stops, it does as without a recorder.
void Recording::let_running_go(u32 tid) {
  ask_to_stop(tid);
  while (true) {
    int status = 0;
    const pid_t got = ::waitpid(static_cast<pid_t>(tid), &status, __WALL);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || !WIFSTOPPED(status)) {
      first_ended_ = first_ended_ || tid == first_pid_;
      if (got > 0 && tid == first_pid_) summary_.status = status;
      return;
    }
    const int event = status >> 16;
    if (event == 0 && WSTOPSIG(status) == SIGSTOP) return let_go(tid, 0);
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
      const u32 child = event_message(tid);
      int child_status = 0;
      if (early_.erase(child) == 0) wait_on(static_cast<pid_t>(child), child_status, __WALL);
      let_go(child, 0);
    }
    const bool is_of_trace = event != 0 || WSTOPSIG(status) == call_stop || WSTOPSIG(status) == SIGTRAP;
    run_freely(tid, is_of_trace ? 0 : WSTOPSIG(status));
  }
}

// A program that was started is waited for; on request to end, it is killed.
void Recording::wait_for_first() {
  while (!spared_ && !first_ended_) {
    int status = 0;
    const pid_t got = ::waitpid(static_cast<pid_t>(first_pid_), &status, 0);
    if (got > 0) summary_.status = status;
    if (got > 0 || errno != EINTR) return;
    if (options_.stop != nullptr && *options_.stop) ::kill(static_cast<pid_t>(first_pid_), SIGKILL);
  }
}

}  // namespace pmusim::trace
