// SPDX-License-Identifier: MIT
#ifndef PMUSIM_REPLAY_REPLAY_H
#define PMUSIM_REPLAY_REPLAY_H

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "pmusim/cpu/setup.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/trace/trace.h"

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
  user,        ///< as the trace says: 3 where it holds a process alone, whose system calls are one far branch
  kernel,      ///< 0
  by_address,  ///< 0 in the upper half of the address space, 3 in the lower: a trace of a whole system
};

/// Feeds a recorded program to PMUs, which need no driver of this project and no perf above them (Session has
/// both). Several PMUs of one processor see the same run, each with its own programming.
class Replay {
 public:
  /// Errors: the trace cannot be read; the model's parameters make no machine.
  static Result<Replay, Error> open(const std::string& trace_path, const CpuModel& model);
  /// Of a program that comes from elsewhere.
  static Result<Replay, Error> open(std::unique_ptr<trace::Source> source, const CpuModel& model);
  /// On a machine of many CPUs, whose cores share caches as hardware does. The program runs on one CPU at a
  /// time, on the first at first; `run_on` says where it goes on. Errors: as above, of any of its models.
  static Result<Replay, Error> open(std::unique_ptr<trace::Source> source, Topology machine);
  Replay(Replay&&) noexcept;
  Replay& operator=(Replay&&) noexcept;
  ~Replay();

  /// Another PMU, which sees the program from where it stands, and must outlive the replay. Its time goes on
  /// from its own now(). The first one's barriers (PRED_CMD.IBPB) are those that the branch predictor obeys.
  void attach(Pmu& pmu);
  /// The same of a CPU of a machine: it sees what runs there. Throws std::out_of_range for any other CPU.
  void attach(Pmu& pmu, u32 cpu);

  /// Between instructions (from the source's read(), say): the program goes on on this CPU of a machine,
  /// where time goes on from now() of that CPU's PMUs. Who halts PMUs meanwhile is whoever calls this. Throws
  /// std::out_of_range for any other CPU.
  void run_on(u32 cpu);

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

/// One execution of a straight line of 64-bit code.
struct CodeRun {
  u64 ip = 0;
  std::span<const std::byte> code{};
  /// Where execution goes on, which is what the last instruction's branch did; 0: behind the code. Branches
  /// before it are not taken.
  u64 next_ip = 0;
  /// One address for each memory operand of each instruction, in order; empty: every access hits.
  std::span<const u64> addresses{};
  Cpl cpl = Cpl::user;
  /// Where the last instruction leads to another ring (SYSCALL, SYSRET, IRET); nothing: to the same.
  std::optional<Cpl> cpl_after{};
  /// The general registers after each instruction: what PMI handlers and PEBS records see, and by which
  /// CLFLUSH finds its line. One for each; empty: not known.
  std::span<const Registers> registers{};
};

/// Machine code as bytes, which runs on PMUs:
///
///     auto runner = CodeRunner::create(pmu.model());
///     runner->attach(pmu);
///     runner->run({.ip = 0x401000, .code = bytes});
///
/// Decodes code, and lets it retire when a processor of the model would: it has the pipeline, the caches and
/// the branch predictors of the core model (docs/core-model.md), which remember the runs before.
class CodeRunner {
 public:
  /// Errors: the model's parameters make no machine.
  static Result<CodeRunner, Error> create(const CpuModel& model);
  CodeRunner(CodeRunner&&) noexcept;
  CodeRunner& operator=(CodeRunner&&) noexcept;
  ~CodeRunner();

  /// As Replay::attach.
  void attach(Pmu& pmu);

  /// Returns how many instructions have retired. Errors, with nothing retired: bytes that are no instruction,
  /// with their offset; a jump, call or return before the end; another number of addresses than of operands,
  /// or of registers than of instructions.
  Result<u64, Error> run(const CodeRun& run);

 private:
  class State;
  explicit CodeRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pmusim

#endif
