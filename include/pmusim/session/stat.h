// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SESSION_STAT_H
#define PMUSIM_SESSION_STAT_H

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pmusim/events/parser.h"
#include "pmusim/session/session.h"

/// `pmusim stat` as a function: a replay that counts.
/// @code
/// auto session = Session::open("program.pmutrace", {.model = *find_cpu_model("icelake")});
/// const auto list = events::parse_events("cycles,branches", session->model());
/// const auto report = stat(*session, {.events = *list});
/// for (const EventTotal& total : report->events)
///   std::cout << total.name << ' ' << total.value() << '\n';
/// @endcode
namespace pmusim {

/// What the windows of core `sampled` say of a whole program.
struct Estimate {
  static constexpr double confidence = 0.99;  ///< with which the whole core's count is within the interval
  u64 value = 0;                              ///< occurrences in the program
  u64 half_width = 0;                         ///< of the interval around it
  u64 windows = 0;                            ///< in which it was counted
};

/// One event's count over a whole replay.
struct EventTotal {
  std::string name;
  std::string cgroup = {};  ///< whose occurrences these are; empty: everybody's
  u64 counted = 0;          ///< while it was on a counter
  u64 enabled_ns = 0;       ///< perf time
  u64 running_ns = 0;       ///< less than enabled if it took turns with others
  unsigned scale = 1;       ///< value() is so many times what was counted (events::ParsedEvent)
  bool supported = true;    ///< false: the CPU has no such event, or the trace or the core cannot tell
  bool scaled = false;      ///< `counted` is scaled up already: it adds up both kinds of core
  bool elsewhere = false;   ///< in CpuTotals: of the other kind of core, and not opened on this CPU
  /// Of an event that core `sampled` counted in windows alone, of which `counted` is the sum.
  std::optional<Estimate> estimate;
  bool counted_at_all() const { return running_ns != 0; }
  /// The count, or what is estimated, times its scale; scaled up to the whole time if it took turns.
  u64 value() const;
};

/// What happens to events for which the CPU has too few counters.
enum class Fitting : u8 {
  replay_again,  ///< further replays count them, with a PMU of their own: every count is exact
  multiplex,     ///< they take turns every tick, as in a kernel, and counts are scaled up
};

/// What happens to events that cannot be counted at all.
enum class Uncountable : u8 {
  refused,  ///< the first of them is the error
  perfs,    ///< as perf: generic events that the model lacks are shown as not supported, others are the error
  shown,    ///< as not supported
};

/// What one thread did.
struct ThreadTotals {
  std::string command;
  u32 pid = 0, tid = 0;
  std::vector<EventTotal> events;
};

/// What was counted on one CPU of a machine.
struct CpuTotals {
  u32 cpu = 0;
  std::vector<EventTotal> events;
};

/// Counts of a part of the run.
struct IntervalTotals {
  u64 end_ns = 0;  ///< perf time
  std::vector<EventTotal> events;
  std::vector<CpuTotals> cpus;  ///< of StatOptions::cpus
};

/// What `pmusim stat` is asked for, in perf stat's terms.
struct StatOptions {
  std::vector<events::EventGroup> events;
  /// Names of events that are counted if the model has them and the trace tells, and are otherwise reported
  /// as not supported.
  std::vector<std::string> if_possible;
  Uncountable uncountable = Uncountable::refused;  ///< of `events`
  /// Of a hybrid machine, and of events of cgroups, always by taking turns: which events fit on a CPU is
  /// known only once a thread runs there.
  Fitting fitting = Fitting::replay_again;
  /// -a, -C, of a session with a machine: everything on these CPUs is counted, idle time included. Nothing:
  /// the program is, wherever it runs.
  std::optional<std::vector<u32>> cpus;
  /// --hybrid-merge: an event that both kinds of core count is one, the sum of what each is scaled up to.
  bool merge_core_types = false;
  std::vector<TimeSpan> measured;                          ///< -D; to the tick of 1 ms. Empty: always
  std::optional<u64> interval_ns;                          ///< -I; to the tick of 1 ms
  std::function<void(const IntervalTotals&)> on_interval;  ///< called at the end of each interval
  /// A file for `perf stat report`, with the counts at the end of each interval. Empty: none.
  std::string record_to;
  bool record_cpu_by_cpu = false;         ///< what it is to show, as with -A
  std::vector<std::string> command_line;  ///< for its header
  bool per_thread = false;                ///< fill in `threads`
  u64 max_instructions = ~u64{0};         ///< stop soon after so many
  u64 max_ns = ~u64{0};                   ///< stop in the tick after this perf time
};

/// What was counted, and over how much.
struct StatReport {
  std::vector<EventTotal> events;     ///< in the order asked for
  std::vector<ThreadTotals> threads;  ///< in the order in which they first ran
  std::vector<CpuTotals> cpus;        ///< of StatOptions::cpus; their sums are `events`
  u64 instructions = 0;               ///< retired by the trace
  u64 elapsed_ns = 0;                 ///< perf time
  u64 replays = 1;                    ///< that it took to count everything
  driver::DriverStatistics driver;
};

/// Counts the events over a replay of the session's trace. Call it once per session.
/// Errors: an event that the kernel would refuse (with its sentence); a damaged trace; events of a cgroup
/// on a machine without `cpus`, or in a file; a file that cannot be written; of core `sampled`,
/// what asks for parts of the run (threads, intervals, measured time, turns), and a program that has less
/// than five windows.
Result<StatReport, Error> stat(Session& session, const StatOptions& options);

/// The same over programs that run side by side, on up to so many threads: their sum, and CPUs by the numbers
/// of the whole machine. Errors, too: intervals, a file and merged kinds of core, which go with one program.
Result<StatReport, Error> stat(std::span<Session> programs, const StatOptions& options, unsigned threads = 1);

/// Windows of core `sampled` that come so often that the interval around the program's cycles is at most
/// `error` of them to either side: `options.windows`, or the same more often. `open` gives the program from
/// its beginning each time. Costs a replay or two at that core, which count cycles alone. Errors: those of
/// Session::open() and stat(); an error that no windows reach short of the whole program.
Result<CoreWindows, Error> choose_windows(
    const std::function<Result<std::unique_ptr<trace::Source>, Error>()>& open, const SessionOptions& options,
    double error);

}  // namespace pmusim

#endif
