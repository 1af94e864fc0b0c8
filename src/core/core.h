// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_CORE_H
#define PMUSIM_CORE_CORE_H

#include <concepts>
#include <memory>

#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/trace/trace.h"

/// When the instructions of a trace retire:
///
///     auto core = Core::create(*find_cpu_model("skylake"));
///     core->run(block_run, [&](const Retirement& r) { pmu.retire(r); });
///
namespace pmusim {

class CoreEngine;
class MachineCaches;
struct CorePlace;

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
  Core(const Core& other);
  Core& operator=(const Core& other);
  Core(Core&& other) noexcept;  ///< what has been moved from can be assigned to, and nothing else
  Core& operator=(Core&& other) noexcept;
  ~Core();

  /// Errors: an unknown predictor name, or parameters that make no machine (named in the sentence).
  static Result<Core, Error> create(const CpuModel& model);

  /// Runs one execution of a block and calls `sink(const Retirement&)` for each instruction, in order, and
  /// for the abort of a transaction, which is none. `Retirement::memory` and `registers` are valid during
  /// that call. Without recorded addresses every memory access is a hit.
  template <std::invocable<const Retirement&> Sink>
  void run(const trace::BlockRun& block_run, Sink&& sink) {
    begin(block_run);
    for (std::size_t left = block_run.block->instructions.size(); left != 0; --left) {
      sink(step());
      if (const Retirement* const abort = take_abort()) sink(*abort);
    }
  }

  /// An interrupt, or a signal that enters its handler: the pipeline is flushed and refilled. No instruction
  /// retires.
  void interrupt();

  /// The predictors forget all that they learnt if the number of barriers that software has asked for
  /// (IA32_PRED_CMD.IBPB) is not what it was at the last call.
  void obey_prediction_barriers(u64 asked_for);

  /// One of a machine's cores, before the first block, as CoreEngine::join().
  void join(MachineCaches& machine, const CorePlace& place);

  /// Cycle of the last retirement; 0 before the first.
  u64 cycle() const;
  /// Slots of that cycle that nothing used yet: what uops and lost slots fall short of all slots.
  unsigned open_slots() const;

 private:
  explicit Core(std::unique_ptr<CoreEngine> engine);
  void begin(const trace::BlockRun& block_run);
  const Retirement& step();
  const Retirement* take_abort();

  std::unique_ptr<CoreEngine> engine_;
};

}  // namespace pmusim

#endif
