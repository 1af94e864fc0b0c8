// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_RECORDING_H
#define PMUSIM_TRACE_RECORDING_H

#include <map>
#include <memory>
#include <set>

#include "pmusim/trace/trace.h"
#include "trace/block_builder.h"
#include "trace/disguise.h"
#include "trace/region_gate.h"
#include "trace/tracee.h"
#include "trace/xstate.h"

namespace pmusim::trace {

/// A traced thread. It is stopped and ready to be stepped, or in the kernel on its way to the next stop.
struct RecordedThread {
  RecordedThread(u32 process, u32 thread, Disguise hidden)
      : pid(process), tid(thread), disguise(std::move(hidden)) {}
  u32 pid, tid;
  Disguise disguise;
  bool ready = false;
  /// The next stop is at the first instruction of a new image: nothing retires with it.
  bool entering = false;
  bool own_trap_flag = false;  // the program has set it itself
  bool in_call = false;        // between the stops before and after a system call
  /// The kernel is going to repeat the system call that has just returned (ERESTART...).
  bool restarting = false;
  ThreadState state;
  ExtendedState extended;  // only where they are recorded
  OpenBlock block;
  const LiveInstruction* stepping = nullptr;  // what the step in progress executes
  bool in_rep = false;                        // between two iterations of it
  u64 rep_rcx = 0;                            // RCX before the first one
  u64 call_number = 0;                        // RAX before it
  int signal = 0;                             // to deliver with the next step
  int delivering = 0;                         // with the step in progress
  bool handler_follows = false;               // that delivery enters a handler
  std::shared_ptr<AddressSpace> space;

  /// A system call runs from stop to stop, everything else by steps.
  bool steps_into_call() const {
    return stepping != nullptr && stepping->system_call && !(delivering != 0 && handler_follows);
  }
};

/// One recording while it runs: who is stepped next, and what each stop means.
class Recording {
 public:
  Recording(Writer& writer, Contents contents, const RecordingOptions& options);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  /// Kills what still runs.
  ~Recording();

  /// Records the process, which is stopped after its exec, until nothing is left of it.
  Result<RecordingSummary, Error> run(u32 pid, const Disguise& disguise);
  /// Records threads that are stopped anywhere, the first process's among them, by tid with their pids.
  Result<RecordingSummary, Error> run_from(u32 first_pid, const std::map<u32, u32>& threads,
                                           const cpu_set_t& cpus);
  /// The processes are not the recorder's to kill.
  void spare_all() { spared_ = true; }

 private:
  using Thread = RecordedThread;

  // scheduling
  Thread* next_thread();
  void step(Thread& thread);
  void prepare_step(Thread& thread);
  void wait_for(u32 tid, bool in_call);
  void poll_busy_threads();
  void wait_for_any();
  bool stop_asked() const;
  void stop_early();
  Result<RecordingSummary, Error> record_to_end();
  void adopt(u32 pid, u32 tid, const cpu_set_t& cpus);
  void let_all_go();
  void let_running_go(u32 tid);
  void wait_for_first();

  // stops
  void stopped(u32 tid, int status);
  void trapped(Thread& thread);
  void at_call(Thread& thread);
  void trap_of_program(Thread& thread);
  void signalled(Thread& thread, int signal);
  void started_thread(Thread& parent, u32 tid);
  void take_over_leader(u32 former, u32 tid);
  void executed_program(u32 tid);
  void gone(Thread& thread, int status);

  // what happened
  void retire(Thread& thread, const ThreadState& after);
  void add_to_block(Thread& thread, const LiveInstruction& live, u32 rep_count);
  void take_extended(Thread& thread);
  bool next_iteration(Thread& thread, const ThreadState& after);
  void finish_call(Thread& thread, u64 next_ip, i64 result);
  void leave_unfinished(Thread& thread);
  void end_block(Thread& thread, u64 next_ip);
  bool admits_block(const Thread& thread);
  void enter_handler(Thread& thread, const ThreadState& after);
  void refresh_maps(Thread& thread);
  void add_side_band(const SideBandRecord& record);
  void make_current(const Thread& thread);
  void fail(const Error& error);
  void kill_all();
  void leave_all();

  Writer& writer_;
  BlockWriter blocks_;
  std::optional<XstateReader> xstate_;  // where extended registers are recorded
  const RecordingOptions& options_;
  InstructionStore store_;
  std::map<u32, Thread> threads_;
  std::set<u32> early_;  // threads that stopped before their parent announced them
  u32 current_tid_ = 0;  // whose instructions the trace is in
  u32 turn_tid_ = 0;     // whose turn it is
  u64 turn_end_ = 0;     // up to which step
  u64 steps_ = 0;        // system calls and iterations of REP included
  u64 instructions_ = 0;
  u64 left_out_ = 0;  // of those, before the region
  u32 first_pid_ = 0;
  bool first_ended_ = false;
  bool spared_ = false;
  RegionGate gate_;
  RecordingSummary summary_;
  std::optional<Error> error_;
};

}  // namespace pmusim::trace

#endif
