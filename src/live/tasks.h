// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_TASKS_H
#define PMUSIM_SRC_LIVE_TASKS_H

#include <array>
#include <map>
#include <optional>
#include <set>

#include "live/cgroups.h"
#include "live/emulated_machine.h"
#include "trace/live_code.h"
#include "trace/trap_disguise.h"
#include "trace/xstate.h"

namespace pmusim::live {

/// What the events on a task ask of the supervisor.
enum class Interest : u8 {
  none,
  lifecycle,     ///< none of them counts now: the task runs by itself, but its forks, execs and end matter
  instructions,  ///< it is stepped
};

/// Of all events.
struct Interests {
  std::map<u32, Interest> of_task;    ///< by tid
  Interest of_cpus = Interest::none;  ///< of everybody on them
};

/// Page faults of one instruction.
struct FaultedAt {
  PageFaults::Count count;
  Registers before;
};

/// A thread on which there are events, attached to (PTRACE_SEIZE).
struct WatchedTask {
  enum class State : u8 {
    native,         ///< runs by itself
    ready,          ///< stopped between two instructions
    stepping,       ///< executes one
    reaching_call,  ///< runs to the stop before the system call that it stands at
    in_call,        ///< in the kernel, on its way to the stop after that
    group_stopped,  ///< by SIGSTOP and the like
    ending,         ///< nothing is left to be known of it but its status
  };
  u32 pid = 0, tid = 0;
  State state = State::native;
  Interest interest = Interest::lifecycle;
  bool asked_to_stop = false;
  bool is_restricted = false;    ///< to some CPUs: what it starts has to inherit that
  u64 cgroup = 0;                ///< number; 0: nobody has looked
  trace::ThreadState registers;  ///< where it is ready, or was before what it does now
  ExtendedState extended;        ///< there, while events sample it
  trace::OpenBlock block;
  std::shared_ptr<trace::AddressSpace> space;
  const trace::LiveInstruction* stepping = nullptr;  ///< what the step in progress executes
  bool in_rep = false;                               ///< between two iterations of it
  u64 rep_rcx = 0;                                   ///< RCX before the first one
  u64 call_number = 0;
  bool call_comes_again = false;  ///< the kernel is going to repeat the call that it has just left
  int signal = 0;                 ///< to be delivered when it goes on
  bool handler_follows = false;   ///< that delivery enters a handler
  bool entering_handler = false;
  std::optional<trace::TrapDisguise> trap;  ///< since it is stepped
  bool own_trap_flag = false;               ///< the program has set it itself
  std::optional<PageFaults> faults;         ///< while events count them
  std::vector<FaultedAt> faulted;           ///< by instructions in the block
};

/// A system call that a task is made to make.
struct ForcedCall {
  u64 number = 0;  ///< SYS_*
  std::array<u64, 6> arguments{};
};

/// The watched tasks: attached to, stepped one at a time and in turns, and followed into what they start.
///
/// Events of a CPU are on everybody below the keeper, but for the programs that have some open: a sampler
/// would be slowed down by what it samples, and sample itself. Those run by themselves, as if they watched
/// from elsewhere, until they close them, execute another program or open events on themselves.
///
/// Nothing here waits for a task that could wait for the supervisor: steps over system calls are not waited
/// for at all, and the wait for others ends with a tick of the caller's interval timer, too.
class Tasks {
 public:
  /// `keeper`: the process below which all programs are.
  Tasks(EmulatedMachine& machine, u32 keeper)
      : machine_(machine), keeper_(keeper), cgroups_(machine.perf()) {}
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  /// Whether the run has started it.
  bool is_of_run(u32 tid) const;
  /// Watches a task from now on. 0, or the errno of attaching.
  int watch(u32 tid);
  /// Watches everybody, for an event of a CPU; until there is no such event. 0, or the errno of attaching.
  int watch_cpus();
  /// Who has opened an event of a CPU.
  void opened_on_cpu(const perf::Event& event, u32 opener);
  Cgroups& cgroups() { return cgroups_; }
  /// Everybody watched is in the perf core's cgroup that he is in now. As long as an event asks for them,
  /// this is so after each call that may move a task, at each turn and with flush(), too.
  void follow_cgroups();
  /// CPUs that are online and that the task may run on from now on; it is watched for that, unless that is
  /// all of them. 0, or the errno of attaching.
  int restrict_to(u32 tid, const std::vector<u32>& cpus, bool all);
  /// Events have come, gone, or been switched: stops and lets go whom that concerns.
  void follow_events();
  /// All that has been executed retires: events are about to be read or changed.
  void flush();
  /// Lets the next task execute an instruction. False if there is none to step.
  bool step();
  /// Takes note of what has happened to any child of this process.
  void collect();
  /// Changes when watched tasks have ended: their parents have been notified, or wait for the last thread.
  u64 ended() const { return ended_; }

  /// Whether a task that waits for the answer to a system call can be made to do another, as call() does.
  /// Before the answer.
  bool hold(u32 tid);
  /// After the answer: makes the task do these calls in its place, unless it has died. The program takes the
  /// result of the first for that of its own.
  void call(u32 tid, std::span<const ForcedCall> calls);

  /// Lets everyone go on alone.
  void release_all();

 private:
  using State = WatchedTask::State;

  WatchedTask* find(u32 tid);
  int attach(u32 tid) const;
  WatchedTask& add(u32 tid);
  int watch_if_running(u32 tid);
  bool is_observer(const WatchedTask& task) const;
  void follow_cgroup(WatchedTask& task);
  Interest interest_in(const WatchedTask& task, const Interests& events) const;
  WatchedTask* next_ready();
  void go(WatchedTask& task);
  void step_into_handler(WatchedTask& task);
  void step_into_call(WatchedTask& task);
  void step_instruction(WatchedTask& task, const trace::LiveInstruction* live);
  void wait_for_step(u32 tid);

  void changed(u32 tid, int status);
  void stopped(WatchedTask& task, int status);
  void at_call(WatchedTask& task);
  void left_call(WatchedTask& task);
  void stopped_with_group(WatchedTask& task, int signal);
  void between_instructions(WatchedTask& task);
  void settle(WatchedTask& task);
  void begin_steps(WatchedTask& task);
  bool end_steps(WatchedTask& task);
  trace::TrapDisguise disguise_of(const WatchedTask& task) const;
  bool ignores_trap(const WatchedTask& task) const;
  void stepped(WatchedTask& task);
  void signalled(WatchedTask& task, int signal);
  void goes_on(WatchedTask& task);
  void started(WatchedTask& parent, u32 tid);
  void executed(u32 tid);
  void take_over_leader(u32 former, u32 tid);
  void ends(WatchedTask& task);
  void gone(WatchedTask& task);
  void receive_orphans();
  bool is_watched(u32 pid) const;
  void forget(WatchedTask& task);

  void retire(WatchedTask& task, const trace::ThreadState& after);
  void add_to_block(WatchedTask& task, const trace::LiveInstruction& live, u32 rep_count);
  void take_extended(WatchedTask& task);
  void follow_extended();
  void take_faults(WatchedTask& task, const Registers& before);
  void end_block(WatchedTask& task, u64 next_ip);
  void make_current(const WatchedTask& task);
  void learn_maps(WatchedTask& task);
  void tell_of_maps(WatchedTask& task);

  std::optional<int> wait_for_stop(u32 tid);
  bool run_one_call(u32 tid);
  void ignore_trap(u32 tid);

  EmulatedMachine& machine_;
  u32 keeper_;
  trace::InstructionStore store_;
  std::map<u32, WatchedTask> tasks_;  // by tid
  std::set<u32> early_;               // stopped before their parent announced them
  Cgroups cgroups_;
  std::map<u64, u32> observers_;               // processes that have events of CPUs open, by id of the event
  bool cpus_watched_ = false;                  // by such events: everybody is watched
  bool cgroups_matter_ = false;                // to any event
  bool faults_counted_ = false;                // by any event
  std::optional<trace::XstateReader> xstate_;  // while an event samples extended registers
  u64 ended_ = 0;
  u32 current_tid_ = 0;  // who runs on the emulated CPU
  u32 turn_tid_ = 0;     // whose turn it is
  u64 turn_end_ = 0;     // up to which step
  u64 steps_ = 0;
};

}  // namespace pmusim::live

#endif
