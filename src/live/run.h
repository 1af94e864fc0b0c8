// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LIVE_RUN_H
#define PMUSIM_LIVE_RUN_H

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pmusim/session/session.h"
#include "pmusim/trace/trace.h"

namespace pmusim::live {

enum class UncountedEvents : u8 {
  are_refused,  ///< as all that cannot be opened is
  read_zero     ///< they are opened, and named in RunSummary::read_zero
};

/// A program and the machine that it is to see.
///
/// @code
/// live::RunOptions options;
/// options.machine.model = *find_cpu_model("skylake");
/// options.command = {"perf", "stat", "./prog"};
/// const auto summary = live::run(options);
/// @endcode
struct RunOptions {
  SessionOptions machine;
  std::vector<std::string> command;
  /// Where what watched tasks execute is recorded as a trace; empty: nowhere.
  std::string trace;
  /// What becomes of events that exist on the model and that nothing here can produce, where they only count.
  UncountedEvents uncounted = UncountedEvents::are_refused;
  /// Called with the first step of a task and some times a second from then on: how many instructions have
  /// been stepped.
  std::function<void(u64)> progress = {};
};

/// What became of it.
struct RunSummary {
  int status = 0;        ///< of the command, as waitpid gives it
  u64 instructions = 0;  ///< that watched tasks have executed
  u64 calls = 0;         ///< system calls on events that were served
  u64 elapsed_ns = 0;    ///< perf time
  /// Why perf_event_open has failed, and how often for that reason.
  std::map<std::string, u64> refusals;
  /// Of events that read 0 as nothing here counts them: a sentence each, once.
  std::vector<std::string> read_zero;
  driver::DriverStatistics driver;
  /// What of the machine could not be shown to programs, in a sentence: events work by number only.
  std::string missing_view;
  /// Why there is no /dev/cpu/0/msr, in a sentence; empty: there is.
  std::string missing_registers;
  /// What was recorded, or why nothing was: the disk, or no task was ever stepped.
  std::optional<Result<trace::Writer::Written, Error>> trace;
};

/// Runs a program on this machine as if it had the model's PMU, whatever it has: perf_event_open, and what
/// programs do with its descriptors, are answered by the emulated driver and perf core, and sysfs shows the
/// PMU. Tasks that have events on them are single-stepped and feed it; all else runs by itself.
///
/// Ends with the program. What it leaves running is ended: with SIGTERM and, a second later, SIGKILL; with
/// SIGKILL if this process is killed. The caller must have no other child processes and no other use of
/// SIGALRM and SIGCHLD meanwhile. SIGTERM, SIGHUP, SIGINT and SIGQUIT are passed on to the program, which
/// gets those of the terminal's keys by itself.
///
/// Errors: the model makes no machine; the kernel or a container's profile forbids what this needs, which is
/// named; the program cannot be started; the trace's file cannot be made.
Result<RunSummary, Error> run(const RunOptions& options);

}  // namespace pmusim::live

#endif
