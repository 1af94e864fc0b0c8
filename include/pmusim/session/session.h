#ifndef PMUSIM_SESSION_SESSION_H
#define PMUSIM_SESSION_SESSION_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pmusim/core/core.h"
#include "pmusim/session/monitor.h"

namespace pmusim {

/// How far a replay has come, in retired instructions; the total is 0 while nobody knows it.
struct Progress {
  u64 done = 0, total = 0;
};

/// A recorded program on an emulated core with a monitor on it: the whole pipeline in one object. Open
/// events, then `run()`.
class Session {
 public:
  /// Errors: the trace cannot be read; the model's parameters make no machine.
  static Result<std::unique_ptr<Session>, Error> open(const std::string& trace_path, SessionOptions options);
  /// Of a program that comes from elsewhere.
  static Result<std::unique_ptr<Session>, Error> open(std::unique_ptr<trace::Source> source,
                                                      SessionOptions options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Monitor& monitor() { return *monitors_.front(); }
  /// Another monitor of the same kind over the same run, blind to the first. Watching one run many times
  /// costs less than as many runs.
  Monitor& add_monitor();

  perf::PerfCore& perf() { return monitor().perf(); }
  Pmu& pmu() { return monitor().pmu(); }
  const driver::IntelDriver& driver() const { return monitors_.front()->driver(); }
  /// Of the drivers of all monitors.
  driver::AccessFaults driver_faults() const;
  const CpuModel& model() const { return options_.model; }
  perf::Kernel kernel() const { return options_.kernel; }
  const trace::Source& trace() const { return *trace_; }
  Result<perf::Event*, KernelError> open_event(const perf::Attr& attr, perf::Event* leader = nullptr) {
    return monitor().open_event(attr, leader);
  }

  /// Called with every mapping of the program as it comes.
  void on_mapping(std::function<void(const trace::Mapping&)> callback) { on_mapping_ = std::move(callback); }
  /// Called between instructions, at least once in every tick of perf time: no interrupt is being handled.
  void on_pause(std::function<void()> callback) { monitor().on_pause(std::move(callback)); }
  /// Called with what happens between instructions, before the monitors hear of it.
  void on_happening(std::function<void(const trace::Happening&)> callback) {
    on_happening_ = std::move(callback);
  }
  /// Called now and then during run().
  void on_progress(std::function<void(Progress)> callback) { on_progress_ = std::move(callback); }

  /// Replays the trace from beginning to end, then stops every event. Call it once.
  /// Errors: damaged trace, with file and offset; everything up to there has been delivered.
  Result<Done, Error> run();
  /// Instead of run(), for who has the program's items in hand: what happens next, and that it was the last.
  void take(const trace::Item& item);
  void finish();
  /// From a callback: run() ends at the present instruction, as if the trace did.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  /// Instructions retired so far.
  u64 instructions() const { return instructions_; }
  /// How perf time follows from the TSC.
  perf::TscToNs clock() const { return monitors_.front()->clock(); }
  /// perf time, in ns.
  u64 now() const { return monitors_.front()->now(); }

 private:
  Session(std::unique_ptr<trace::Source> trace, SessionOptions options, Core core);

  Result<std::optional<trace::Item>, Error> next_item();
  void run_block(const trace::BlockRun& run);
  void happen(const trace::Happening& happening);
  void obey_prediction_barriers();

  SessionOptions options_;
  std::unique_ptr<trace::Source> trace_;
  Core core_;
  std::vector<std::unique_ptr<Monitor>> monitors_;
  u64 instructions_ = 0;
  u64 prediction_barriers_ = 0;  // that the core has obeyed
  std::function<void(const trace::Mapping&)> on_mapping_;
  bool stopped_ = false;
  std::function<void(const trace::Happening&)> on_happening_;
  std::function<void(Progress)> on_progress_;
};

}  // namespace pmusim

#endif
