// SPDX-License-Identifier: MIT
#ifndef PMUSIM_REPLAY_CODE_H
#define PMUSIM_REPLAY_CODE_H

#include <memory>
#include <optional>
#include <span>

#include "pmusim/pmu/pmu.h"

/// Machine code as bytes, which runs on PMUs:
///
///     auto runner = CodeRunner::create(pmu.model());
///     runner->attach(pmu);
///     runner->run({.ip = 0x401000, .code = bytes});
///
namespace pmusim {

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
