// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SESSION_SESSION_H
#define PMUSIM_SESSION_SESSION_H

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/setup.h"
#include "pmusim/driver/drivers.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perf/core.h"
#include "pmusim/trace/trace.h"

/// A recorded program on an emulated CPU under its driver and kernel.
namespace pmusim {

class Monitor;
class Pmu;

/// The CPU that a program runs on where nobody names one, the command's and the Python package's too:
/// @code
/// const CpuModel model = *find_cpu_model(default_model);
/// @endcode
inline constexpr const char* default_model = "icelake";

/// In which steps a replay goes. Results are the same.
enum class Stepping : u8 {
  blocks,        ///< whole blocks where nothing can be seen within them
  instructions,  ///< every instruction by itself
};

/// Which CPU of a machine a thread runs on. In either case a thread begins on the CPU that has the fewest
/// (docs/many-cpus.md).
enum class Schedule : u8 {
  spread,  ///< and stays there, as long as no CPU has two more than another
  rotate,  ///< and goes on to the next CPU with every tick that it has run
};

/// A cgroup of the emulated system, and who is in it: what a thread starts is where that is.
struct CgroupTasks {
  std::string path;                   ///< "web" or "/web"; "web/front" is within it
  std::vector<u32> threads;           ///< by tid
  std::vector<std::string> commands;  ///< threads that execute a program of this name, from then on
};

/// The machine that a program is replayed on, and the kernel on it.
struct SessionOptions {
  CpuModel model;  ///< of a `machine` its first type
  /// Many CPUs. The threads of the program take turns on them in the order of the trace: one runs at a time.
  /// Without: one CPU.
  std::optional<Topology> machine;
  Schedule schedule = Schedule::spread;  ///< of a `machine`
  std::vector<CgroupTasks> cgroups;
  perf::Kernel kernel = perf::default_kernel;  ///< that of `limits` and `driver`, too
  perf::Limits limits;
  perf::Throttling throttling = perf::Throttling::off;
  u64 tick_ns = perf::CoreOptions{}.tick_ns;  ///< of the emulated kernel's timer: frequency, rotation, limits
  driver::DriverOptions driver;
  CoreLevel core = CoreLevel::interval;
  CoreWindows windows;  ///< of core `sampled`
  /// What the core holds at first; of a `machine`, every core. `warm` takes a pass over the program before
  /// the replay, which must come from a source that can be read again (a file can).
  StartState start = StartState::cold;
  Stepping stepping = Stepping::blocks;
  /// Calls and returns of the program are kept account of, and call chains of samples (CALLCHAIN) are made of
  /// them: exact, and without frame pointers.
  bool call_stacks = false;
  /// The program's system calls lead through a synthetic kernel.
  std::optional<trace::KernelEntries> kernel_entries{};
};

/// How far a replay has come, in retired instructions; the total is 0 while nobody knows it.
struct Progress {
  u64 done = 0, total = 0;
};

enum class Sight : u8;

/// A stretch of emulated time (ns) in which events are on: from `begin` up to `end`.
struct TimeSpan {
  u64 begin = 0, end = ~u64{0};
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

/// A recorded program on an emulated CPU under its driver and perf_event core: the whole pipeline in one
/// object. Open events, then `run()`.
///
/// What retires goes to monitors (src/session/monitor.h), each of which is a PMU with a driver and a perf
/// core of its own. A session begins with one.
class Session {
 public:
  /// Errors: the trace cannot be read; the model's parameters make no machine; a core level other than
  /// `interval` for a trace with recorded time; windows that are none, or on a machine of many CPUs; a warm
  /// start of a program that can be read once only; for a machine of many CPUs, a trace that begins otherwise
  /// than with a process; those of trace::with_kernel_entries().
  static Result<Session, Error> open(const std::string& trace_path, SessionOptions options);
  /// Of a program that comes from elsewhere.
  static Result<Session, Error> open(std::unique_ptr<trace::Source> source, SessionOptions options);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  Monitor& monitor() const;
  /// Another monitor of the same kind over the same run, blind to the first. Watching one run many times
  /// costs less than as many runs. At core `sampled` the first monitor counts in windows alone.
  Monitor& add_monitor();
  Monitor& add_monitor(Sight sight);

  perf::PerfCore& perf() const;
  Pmu& pmu() const;
  /// What the drivers of all monitors met, faults of theirs included.
  driver::DriverStatistics driver_statistics() const;
  const CpuModel& model() const;
  /// Null at other levels than `sampled`.
  const CoreWindows* windows() const;
  /// Null without SessionOptions::machine.
  const Topology* machine() const;
  /// Of a program beside others (open_side_by_side()): what the whole machine calls the CPUs of machine().
  const std::vector<u32>& cpus_of_machine() const;
  /// The program's first thread, where there is a machine: events can be opened on it before run().
  u32 first_thread() const;
  perf::Kernel kernel() const;
  StartState start() const;
  const trace::Source& trace() const;

  /// Opens an event that counts all of the program, on the first CPU for every task. Refuses, beside what the
  /// perf core refuses, what a trace cannot tell: ring-0 events, and memory events without recorded
  /// addresses, page faults, registers without recorded registers, and LBR records before an event that
  /// samples branches.
  Result<perf::Event*, KernelError> open_event(const perf::Attr& attr, perf::Event* leader = nullptr);

  /// Called with every mapping of the program as it comes.
  void on_mapping(std::function<void(const trace::Mapping&)> callback);
  /// Called between instructions, at least once in every tick of perf time: no interrupt is being handled.
  void on_pause(std::function<void()> callback);
  /// Called behind each window of core `sampled`, with the number of its instructions.
  void on_window(std::function<void(u64)> callback);
  /// Called with what happens between instructions, before the monitors hear of it.
  void on_side_band(std::function<void(const trace::SideBandRecord&)> callback);
  /// Called now and then during run().
  void on_progress(std::function<void(Progress)> callback);

  /// Replays the trace from beginning to end, then stops every event. Call it once.
  /// Errors: damaged trace, with file and offset; everything up to there has been delivered.
  Result<Done, Error> run();
  /// From a callback: run() ends at the present instruction, as if the trace did.
  void stop();
  bool stopped() const;

  /// Instructions retired so far.
  u64 instructions() const;
  /// How perf time follows from the TSC.
  perf::TscToNs clock() const;
  /// perf time, in ns.
  u64 now() const;

 private:
  class State;
  explicit Session(std::unique_ptr<State> state);
  friend Result<std::vector<Session>, Error> open_side_by_side(
      std::vector<std::unique_ptr<trace::Source>> programs, const SessionOptions& options);
  friend Result<Done, Error> run_side_by_side(std::span<Session> programs, unsigned threads);
  std::unique_ptr<State> state_;
};

/// Programs that run at once on SessionOptions::machine, each on as many cores of its own, in the order of
/// their numbers, under a perf_event core of its own. Those on cores of one package have its L3 together: of
/// them the one that is behind in time goes on.
/// Errors: those of Session::open(); no machine, one of two kinds of core, or with fewer cores than programs.
Result<std::vector<Session>, Error> open_side_by_side(std::vector<std::unique_ptr<trace::Source>> programs,
                                                      const SessionOptions& options);
/// Replays them to their ends, in place of Session::run(). CPUs of those that end first are idle until the
/// last one does. Packages are replayed on up to so many threads: results are the same for every number.
/// Callbacks of a session come on any of them. Errors: of the first program that has one.
Result<Done, Error> run_side_by_side(std::span<Session> programs, unsigned threads = 1);

}  // namespace pmusim

#endif
