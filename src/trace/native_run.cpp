// SPDX-License-Identifier: MIT
#include "trace/native_run.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "trace/process_maps.h"
#include "trace/region_gate.h"
#include "trace/tracee.h"

namespace pmusim::trace {
namespace {

constexpr std::byte int3{0xCC};
constexpr std::chrono::milliseconds poll_interval(1);

/// Where the program itself begins, behind its dynamic linker.
u64 entry_of(u32 pid) {
  const std::string vector = proc_file(pid, "auxv");
  for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= vector.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::memcpy(&entry, &vector[at], sizeof entry);
    if (entry.a_type == AT_ENTRY) return entry.a_un.a_val;
  }
  return 0;
}

}  // namespace

NativeRun::End NativeRun::from_start(u32 pid) {
  threads_[pid] = pid;
  if (region_.delay_ms == 0) executed(pid);
  run_freely(pid, 0);
  return run();
}

NativeRun::End NativeRun::from_middle(u32 pid, const std::set<u32>& tids) {
  for (const u32 tid : tids) threads_[tid] = pid;
  if (region_.delay_ms == 0 && !waits_for_function()) return End::at_region;
  if (region_.delay_ms == 0) plant_at_function(pid);
  for (const u32 tid : tids) run_freely(tid, 0);
  return run();
}

NativeRun::End NativeRun::run() {
  if (region_.delay_ms != 0) delayed_until_ = Clock::now() + std::chrono::milliseconds(region_.delay_ms);
  while (!threads_.empty()) {
    if (stop_ != nullptr && *stop_) return End::interrupted;
    Next next = Next::go_on;
    if (delayed_until_ && Clock::now() >= *delayed_until_) {
      next = end_delay();
    } else {
      int status = 0;
      if (const auto tid = wait(status)) next = stopped(*tid, status);
    }
    if (next == Next::at_region) return threads_.empty() ? End::program_ended : End::at_region;
  }
  return End::program_ended;
}

NativeRun::Next NativeRun::end_delay() {
  delayed_until_.reset();
  stop_all_but(0);
  if (!waits_for_function()) return Next::at_region;
  std::set<u32> pids;
  for (const auto& [tid, pid] : threads_) pids.insert(pid);
  for (const u32 pid : pids) plant_at_function(pid);
  for (const auto& [tid, pid] : threads_) run_freely(tid, 0);
  return Next::go_on;
}

std::optional<u32> NativeRun::wait(int& status) {
  const pid_t tid = ::waitpid(-1, &status, delayed_until_ ? __WALL | WNOHANG : __WALL);
  if (tid > 0) return static_cast<u32>(tid);
  if (tid < 0 && errno != EINTR) threads_.clear();  // whatever they were, they are gone
  if (tid == 0) std::this_thread::sleep_for(poll_interval);
  return std::nullopt;
}

NativeRun::Next NativeRun::stopped(u32 tid, int status) {
  if (!WIFSTOPPED(status)) {
    threads_.erase(tid);
    return Next::go_on;
  }
  if (!threads_.contains(tid)) {
    early_.insert(tid);
    return Next::go_on;
  }
  switch (status >> 16) {
    case PTRACE_EVENT_EXEC:
      executed(tid);
      break;
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
      started(tid, event_message(tid));
      break;
    default:
      if (WSTOPSIG(status) == SIGTRAP && leave_breakpoint(tid)) return trapped(tid);
      run_freely(tid, stops_programs(WSTOPSIG(status)) ? 0 : WSTOPSIG(status));
      return Next::go_on;
  }
  run_freely(tid, 0);
  return Next::go_on;
}

// At the program's first instruction, or where its recording is to begin.
NativeRun::Next NativeRun::trapped(u32 tid) {
  const u32 pid = threads_[tid];
  if (entries_.erase(pid) != 0) {
    remove_breakpoints(pid);
    plant_at_function(pid);
    run_freely(tid, 0);
    return Next::go_on;
  }
  stop_all_but(tid);
  return Next::at_region;
}

void NativeRun::started(u32 parent, u32 tid) {
  int status = 0;
  if (early_.erase(tid) == 0) wait_on(static_cast<pid_t>(tid), status, __WALL);
  const u32 pid = process_of(tid);
  threads_[tid] = pid;
  if (pid != threads_[parent]) {  // with a copy of its parent's memory, breakpoints included
    if (const auto copied = breakpoints_.find(threads_[parent]); copied != breakpoints_.end())
      breakpoints_[pid] = copied->second;
  }
  run_freely(tid, 0);
}

// Another program: what was in the former one's memory is gone.
void NativeRun::forget_program(u32 tid) {
  const u32 former = event_message(tid);
  if (former != tid) threads_.erase(former);
  const u32 pid = threads_[tid];
  breakpoints_.erase(pid);
  entries_.erase(pid);
}

void NativeRun::executed(u32 tid) {
  forget_program(tid);
  const u32 pid = threads_[tid];
  if (!waits_for_function() || delayed_until_) return;
  entries_[pid] = entry_of(pid);
  plant(pid, entries_[pid]);
}

void NativeRun::let_go() {
  stop_all_but(0);
  for (const auto& [tid, pid] : threads_) trace::let_go(tid, 0);
}

void NativeRun::plant(u32 pid, u64 address) {
  std::byte original{};
  if (read_memory(pid, address, {&original, 1}) != 1) return;
  breakpoints_[pid][address] = original;
  poke_byte(pid, address, int3);
}

void NativeRun::plant_at_function(u32 pid) {
  RegionGate gate(region_);
  for (const Mapping& mapping : parse_maps(proc_file(pid, "maps"))) gate.mapped(mapping);
  for (const u64 address : gate.starts()) plant(pid, address);
}

void NativeRun::remove_breakpoints(u32 pid) {
  for (const auto& [address, original] : breakpoints_[pid]) poke_byte(pid, address, original);
  breakpoints_.erase(pid);
}

/// If the thread has run into a breakpoint: puts it where the breakpoint stands.
bool NativeRun::leave_breakpoint(u32 tid) {
  const auto state = thread_state(tid);
  const auto& of_process = breakpoints_[threads_[tid]];
  if (!state || !of_process.contains(state->registers.rip - 1)) return false;
  set_instruction_pointer(tid, state->registers.rip - 1);
  return true;
}

void NativeRun::stop_all_but(u32 tid) {
  const std::map<u32, u32> all = threads_;
  for (const auto& [other, pid] : all)
    if (other != tid) stop(other);
  std::set<u32> pids;
  for (const auto& [other, pid] : threads_) pids.insert(pid);
  for (const u32 pid : pids) remove_breakpoints(pid);
}

// What comes before the stop that was asked for goes its way.
void NativeRun::stop(u32 tid) {
  ask_to_stop(tid);
  while (true) {
    int status = 0;
    const pid_t got = ::waitpid(static_cast<pid_t>(tid), &status, __WALL);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || !WIFSTOPPED(status)) {
      threads_.erase(tid);
      return;
    }
    const int event = status >> 16;
    if (event == 0 && WSTOPSIG(status) == SIGSTOP) return;
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
      const u32 child = event_message(tid);
      started(tid, child);
      stop(child);
    }
    if (event == PTRACE_EVENT_EXEC) forget_program(tid);
    const bool at_breakpoint = event == 0 && WSTOPSIG(status) == SIGTRAP && leave_breakpoint(tid);
    run_freely(tid, event != 0 || at_breakpoint ? 0 : WSTOPSIG(status));
  }
}

}  // namespace pmusim::trace
