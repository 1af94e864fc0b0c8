// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_INTERVAL_CORE_H
#define PMUSIM_SRC_CORE_INTERVAL_CORE_H

#include <array>
#include <concepts>
#include <vector>

#include "core/block_core.h"
#include "core/core_engine.h"

namespace pmusim {

/// The whole core model, a block at a time. It has the words of BlockCore; here an execution is known when
/// its instructions have passed, and they can be reported or not.
///
/// As a rule an instruction has the signals that its code and its block's last branch say, and its accesses
/// hit. Executions of a kind are alike in that; `unusual()` are the instructions that were not.
class IntervalCore {
 public:
  /// For a trace that knows so much. Errors as Core::create.
  static Result<IntervalCore, Error> create(const CpuModel& model, const trace::Contents& contents);

  /// The next execution in program order; time goes on to its end. The block run must stay until the next.
  BlockExecution execute(const trace::BlockRun& run);
  /// The next execution by the order of the program alone, as CoreEngine::pass_in_order(): until `cycle`.
  BlockExecution execute_in_order(const trace::BlockRun& run, u64 cycle);
  /// Calls `sink(const Retirement&)` for each instruction of the last execution, and for aborts behind them,
  /// as often as one likes.
  template <std::invocable<const Retirement&> Sink>
  void retire(const BlockExecution& execution, Sink&& sink) const {
    CoreEngine::Cursor cursor;
    for (u32 left = execution.instructions; left != 0; --left) {
      sink(engine_.retire(cursor));
      if (const Retirement* const abort = engine_.abort_behind(cursor)) sink(*abort);
    }
  }

  /// Cycle of the last retirement; 0 before the first.
  u64 cycle() const { return engine_.cycle(); }

  /// The number of the block that BlockExecution::kind is of.
  static constexpr u32 block_of(u32 kind) { return kind / outcomes; }
  /// Of the last execution: instructions by number that had other signals than is usual.
  std::span<const u32> unusual() const { return engine_.unusual(); }
  /// In which of them such an instruction differs.
  SignalSet differing_signals(u32 instruction) const;
  SignalSet usual_signals(const BlockExecution& execution, u32 instruction) const;
  SignalSet actual_signals(u32 instruction) const;
  /// Of the last execution, outside of transactions: what its instructions reported of these quantities.
  Quantities sum(const QuantitySet& wanted) const { return engine_.sum(wanted); }
  void add_sum(const QuantitySet& wanted, Quantities& sums) const { engine_.add_sum(wanted, sums); }
  /// Of the last execution: how its instructions came through, by number.
  std::span<const CoreEngine::Passed> passed() const { return engine_.passed(); }
  /// Adds what `Pipeline::lost` names: the time lost before such an instruction, and to what.
  void account_lost(const CoreEngine::Passed& passed, Quantities& quantities) const {
    engine_.account_lost(passed, quantities);
  }
  /// The first instruction that retired in the cycle in which the execution ended.
  u32 first_of_last_cycle(const BlockExecution& execution) const;

  /// As CoreEngine::warm_from.
  void warm_from(const IntervalCore& before) { engine_.warm_from(before.engine_); }
  /// As CoreEngine::join.
  void join(MachineCaches& machine, const CorePlace& place) { engine_.join(machine, place); }
  void interrupt() { engine_.interrupt(); }
  /// The same of an interrupt or exception: the cycle in which it is taken.
  u64 enter_handler() {
    interrupt();
    return cycle();
  }
  void obey_prediction_barriers(u64 asked_for) { engine_.obey_prediction_barriers(asked_for); }
  /// Instructions that can retire in one cycle: a pair in each slot.
  u32 most_in_cycle() const { return 2 * width_; }

 protected:
  // behind execute_in_order()
  void write_down_in_order() { engine_.write_down_in_order(); }
  void resume() { engine_.resume(); }

 private:
  static constexpr u32 outcomes = 6;  // of a block's last branch: predictions times directions
  IntervalCore(CoreEngine engine, const CpuModel& model, const trace::Contents& contents);
  const LoweredBlock& lower(const trace::Block& block);
  static void fetch_what_follows(const LoweredBlock& block);
  BlockExecution passed_execution(const trace::BlockRun& run, const LoweredBlock& lowered, u64 since) const;

  CoreEngine engine_;
  u32 width_;
  std::vector<LoweredBlock> blocks_;   // by number
  std::vector<OrderedBlock> ordered_;  // of those that have passed in order
  std::size_t previous_ = 0;           // that was executed before
};

}  // namespace pmusim

#endif
