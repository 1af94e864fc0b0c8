// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_NATIVE_RUN_H
#define PMUSIM_TRACE_NATIVE_RUN_H

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// Lets traced processes run at native speed up to where their recording begins, and stops them there: after
/// some time, or at a breakpoint on a function. Breakpoints are gone then, to the byte.
///
/// A function may be in a library. What a program needs of those is mapped when its own first instruction
/// (AT_ENTRY) is reached, so that is where a breakpoint waits first.
class NativeRun {
 public:
  NativeRun(const Region& region, const std::atomic<bool>* stop) : region_(region), stop_(stop) {}

  enum class End : u8 { at_region, program_ended, interrupted };
  /// Of a process that is stopped after its exec.
  End from_start(u32 pid);
  /// Of a process that was attached to, with these stopped threads.
  End from_middle(u32 pid, const std::set<u32>& tids);

  /// Instead of a recording: what still runs goes on untraced.
  void let_go();

  /// Stopped threads, and the processes that they belong to.
  const std::map<u32, u32>& threads() const { return threads_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Next : u8 { go_on, at_region };

  bool waits_for_function() const { return !region_.start_symbol.empty(); }
  End run();
  Next end_delay();
  std::optional<u32> wait(int& status);
  Next stopped(u32 tid, int status);
  Next trapped(u32 tid);
  void started(u32 parent, u32 tid);
  void forget_program(u32 tid);
  void executed(u32 tid);
  void plant(u32 pid, u64 address);
  void plant_at_function(u32 pid);
  void remove_breakpoints(u32 pid);
  bool leave_breakpoint(u32 tid);
  void stop_all_but(u32 tid);
  void stop(u32 tid);

  const Region& region_;
  const std::atomic<bool>* stop_;
  std::optional<Clock::time_point> delayed_until_;
  std::map<u32, u32> threads_;                           // pid by tid
  std::set<u32> early_;                                  // stopped before their parents announced them
  std::map<u32, std::map<u64, std::byte>> breakpoints_;  // what was there, by pid and address
  std::map<u32, u64> entries_;                           // of programs whose breakpoint is there
};

}  // namespace pmusim::trace

#endif
