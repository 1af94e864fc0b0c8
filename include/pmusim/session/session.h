#ifndef PMUSIM_SESSION_SESSION_H
#define PMUSIM_SESSION_SESSION_H

#include <functional>
#include <memory>
#include <string>

#include "pmusim/core/core.h"
#include "pmusim/driver/intel_driver.h"
#include "pmusim/perf/core.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/trace/reader.h"

namespace pmusim {

struct SessionOptions {
  CpuModel model;
  perf::Limits limits;
  perf::Throttling throttling = perf::Throttling::off;
  driver::DriverOptions driver;
};

/// How far a replay has come, in retired instructions.
struct Progress {
  u64 done = 0, total = 0;
};

/// A recorded program on an emulated CPU under an emulated perf_event subsystem: the whole pipeline in one
/// object. Open events on `perf()`, then `run()`.
///
/// The program has the one CPU to itself, CPU 0. Its time is the TSC's, which starts at 0.
class Session final : private PmiHandler, private perf::Target {
 public:
  /// Errors: the trace cannot be read; the model's parameters make no machine.
  static Result<std::unique_ptr<Session>, Error> open(const std::string& trace_path, SessionOptions options);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  perf::PerfCore& perf() { return perf_; }
  Pmu& pmu() { return pmu_; }
  const driver::IntelDriver& driver() const { return driver_; }
  const CpuModel& model() const { return pmu_.model(); }
  const trace::Reader& trace() const { return trace_; }

  /// Opens an event that counts all of the program, on CPU 0 for every task. Refuses, beside what the perf
  /// core refuses, what a trace cannot tell: ring-0 events, and memory events without recorded addresses.
  Result<perf::Event*, KernelError> open_event(const perf::Attr& attr, perf::Event* leader = nullptr);

  /// Called with every mapping of the program as it comes.
  void on_mapping(std::function<void(const trace::Mapping&)> callback) { on_mapping_ = std::move(callback); }
  /// Called between instructions, at least once in every tick of perf time: no interrupt is being handled.
  void on_pause(std::function<void()> callback) { on_pause_ = std::move(callback); }
  /// Called now and then during run().
  void on_progress(std::function<void(Progress)> callback) { on_progress_ = std::move(callback); }

  /// Replays the trace from beginning to end, then stops every event. Call it once.
  /// Errors: damaged trace, with file and offset; everything up to there has been delivered.
  Result<Done, Error> run();

  /// Instructions retired so far.
  u64 instructions() const { return instructions_; }
  /// How perf time follows from the TSC.
  perf::TscToNs clock() const { return clock_; }
  /// perf time, in ns.
  u64 now() const { return clock_(pmu_.tsc()); }

 private:
  Session(trace::Reader trace, SessionOptions options, Core core);

  Result<Done, KernelError> check_event(const perf::Attr& attr) const;
  void run_block(const trace::BlockRun& run);
  void run_due_work();
  void happen(const trace::Happening& happening);
  void stop_events();

  void handle_pmi(const InterruptFrame& frame) override;
  std::vector<std::byte> read_code(u64 address, std::size_t bytes) const override;

  trace::Reader trace_;
  Core core_;
  Pmu pmu_;
  driver::IntelDriver driver_;
  perf::TscToNs clock_;
  perf::PerfCore perf_;
  u32 pid_ = 0, tid_ = 0;  // running now
  bool started_ = false;
  u64 instructions_ = 0;
  u64 deadline_cycle_ = 0;  // when the perf core wants to be called again
  InterruptFrame frame_;    // where the program stands
  std::function<void(const trace::Mapping&)> on_mapping_;
  std::function<void()> on_pause_;
  std::function<void(Progress)> on_progress_;
};

}  // namespace pmusim

#endif
