#ifndef PMUSIM_CORE_CORE_H
#define PMUSIM_CORE_CORE_H

#include <array>
#include <concepts>
#include <utility>

#include "pmusim/core/branch_unit.h"
#include "pmusim/core/load_store_unit.h"
#include "pmusim/core/pipeline.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/trace/reader.h"

namespace pmusim {

/// The timing model: a trace says what executed, the core says when.
///
/// A deterministic interval model of an out-of-order core. Each instruction is looked at once, in program
/// order: it is dispatched when there is a slot and room in the reorder buffer, starts when its operands
/// (registers, and memory written before) are ready, takes the latency of its class and of its loads, and
/// retires in order. Long latencies overlap as far as the reorder buffer and the fill buffers reach.
/// Mispredicts and code misses keep later instructions from being dispatched. docs/core-model.md says what is
/// modelled and what is not.
///
/// A plain value: a copy is a snapshot from which the same input gives the same output.
class Core {
 public:
  /// Errors: an unknown predictor name, or parameters that make no machine (named in the sentence).
  static Result<Core, Error> create(const CpuModel& model);

  /// Runs one execution of a block and calls `sink(const Retirement&)` for each instruction, in order.
  /// `Retirement::memory` and `registers` are valid during that call. Without recorded addresses every memory
  /// access is a hit.
  template <std::invocable<const Retirement&> Sink>
  void run(const trace::BlockRun& block_run, Sink&& sink) {
    Cursor cursor{&block_run};
    Execution execution;
    for (; cursor.instruction < block_run.block->instructions.size(); ++cursor.instruction) {
      step(cursor, execution);
      sink(std::as_const(execution.retirement));
    }
  }

  /// An interrupt, or a signal that enters its handler: the pipeline is flushed and refilled. No instruction
  /// retires.
  void interrupt();

  /// An indirect branch prediction barrier (IA32_PRED_CMD.IBPB): the predictors forget all that they learnt.
  void forget_branches() { branches_ = fresh_branches_; }

  /// Cycle of the last retirement; 0 before the first.
  u64 cycle() const { return pipeline_.retired_cycle(); }
  /// Slots of that cycle that nothing used yet: what uops and lost slots fall short of all slots.
  unsigned open_slots() const { return pipeline_.open_slots(); }

 private:
  struct Cursor {
    const trace::BlockRun* run;
    std::size_t instruction = 0, address = 0, repetition = 0, change = 0;
  };
  struct Ready {
    u64 cycle = 0;
    WaitingFor reason = WaitingFor::execution;
  };
  static constexpr unsigned execution_classes = static_cast<unsigned>(x86::ExecutionClass::microcoded) + 1;

  using Latencies = std::array<unsigned, execution_classes>;  // by x86::ExecutionClass

  static Latencies by_class(const ExecutionLatencies& latencies);
  Core(const CoreParameters& parameters, BranchUnit branches);
  void step(Cursor& cursor, Execution& execution);
  void fetch(const x86::Instruction& instruction, Execution& execution);
  void flush_line(const x86::Instruction& instruction, const Registers* registers);
  void fetch_line(u64 address, Execution& execution);
  static const ExtendedChange* take_change(Cursor& cursor);
  DataAccesses take_accesses(const x86::Instruction& instruction, Cursor& cursor) const;
  Ready operands_ready(const x86::Instruction& instruction, u64 cycle) const;
  Ready execute(const DataAccesses& data, u64 dispatched, Execution& execution);
  Prediction transfer_control(Retirement& retirement, const x86::Instruction& branch);
  void redirect_fetch(Prediction prediction, u64 resolved);

  unsigned mispredict_penalty_, taken_branch_bubble_, locked_latency_;
  Latencies latencies_;
  BranchUnit branches_, fresh_branches_;
  LoadStoreUnit memory_;
  Pipeline pipeline_;
  std::array<Ready, 64> registers_{};  // by bit of x86::RegisterMask
  u64 divider_free_ = 0;
  u64 fetched_line_ = ~u64{0};
};

}  // namespace pmusim

#endif
