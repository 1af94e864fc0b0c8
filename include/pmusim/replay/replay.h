// SPDX-License-Identifier: MIT
#ifndef PMUSIM_REPLAY_REPLAY_H
#define PMUSIM_REPLAY_REPLAY_H

#include <memory>
#include <string>

#include "pmusim/pmu/pmu.h"
#include "pmusim/trace/source.h"

/// A recorded program under your own driver: whatever PMUs you have are fed what the program did, at the time
/// at which their processor would have done it.
/// @code
/// Pmu pmu(*find_cpu_model("skylake"));
/// struct YourDriver : PmiHandler {
///   void handle_pmi(const InterruptFrame&) override {}
/// } driver;
/// pmu.set_pmi_handler(&driver);
/// auto replay = Replay::open("program.pmutrace", pmu.model());
/// replay->attach(pmu);
/// const u64 instructions = replay->run().value();
/// @endcode
namespace pmusim {

/// At which ring a program's code runs.
enum class ReplayRing : u8 {
  user,        ///< 3: a process, whose system calls are one far branch each
  kernel,      ///< 0
  by_address,  ///< 0 in the upper half of the address space, 3 in the lower: a trace of a whole system
};

/// Feeds a recorded program to PMUs, which need no driver of this project and no perf above them (Session has
/// both). The processor is one: several PMUs see the same run, each with its own programming.
class Replay {
 public:
  /// Errors: the trace cannot be read; the model's parameters make no machine.
  static Result<Replay, Error> open(const std::string& trace_path, const CpuModel& model);
  /// Of a program that comes from elsewhere.
  static Result<Replay, Error> open(std::unique_ptr<trace::Source> source, const CpuModel& model);
  Replay(Replay&&) noexcept;
  Replay& operator=(Replay&&) noexcept;
  ~Replay();

  /// Another PMU, which sees the program from where it stands, and must outlive the replay. Its time goes on
  /// from its own now(). The first one's barriers (PRED_CMD.IBPB) are those that the branch predictor obeys.
  void attach(Pmu& pmu);

  /// From here on; user from the start.
  void set_ring(ReplayRing ring);

  /// Runs the program to its end, or to the end of the straight line (256 instructions at most) in which
  /// `at_most` instructions have retired; returns how many have, 0 at its end.
  /// Errors: a damaged trace, with file and offset; everything up to there has retired.
  Result<u64, Error> run(u64 at_most = ~u64{0});

  const trace::Source& trace() const;

 private:
  class State;
  explicit Replay(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pmusim

#endif
