// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PMU_BLOCK_RUNS_H
#define PMUSIM_PMU_BLOCK_RUNS_H

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "cpu/quantity_set.h"
#include "lbr/pending_branches.h"
#include "msr/counter_totals.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim {

/// Executions of many different blocks in user mode, one after the other, of which nothing can be seen but
/// that they count: summed up here, and given to a Pmu at once.
///
///     if (!runs.fits(execution)) {
///       runs.settle(registers);
///       if (!runs.begin(execution)) ...            // retire its instructions one by one
///     }
///     if (!runs.knows(execution.kind)) runs.learn(execution.kind, retirements, since);
///     if (!runs.add(execution)) ...                 // settle, and retire its instructions one by one
///
/// What fits is decided before a block, from the room that counters have if every instruction counted
/// everywhere: nothing is ever undone. Between begin() and settle() nobody but this may use the Pmu, whose
/// clocks, counters and LBR are behind.
///
/// With a shape of no most_in_cycle, the first instruction of every block retires in a later cycle than the
/// one before it. With one, cycles may be shared, and an execution is its kind with what was different:
///
///     if (!runs.knows(execution.kind)) runs.learn(execution.kind, signals_that_are_usual);
///     runs.add(execution);
///     for (each instruction that differs) runs.correct(usual, actual);
///     if (runs.sums_within_cycles()) ...            // open_cycle(), and add_to_cycle() for its instructions
///
/// Where counts_quantities(), take_quantities() comes before, and before that, where compares_quantities(),
/// compare_quantities() of all its instructions.
class BlockRuns {
 public:
  /// One execution of a block. Executions of one kind add the same to every counter, clocks apart.
  struct Execution {
    u32 kind = 0;  ///< dense: there is memory for all up to the largest
    u32 instructions = 0;
    u32 cycles = 0;  ///< since the retirement before it
  };

  explicit BlockRuns(Pmu& pmu, RunShape shape = {}) : pmu_(pmu), shape_(shape) {}

  bool fits(const Execution& execution) const {
    return instructions_ + execution.instructions <= room_.instructions &&
           cycles_ + execution.cycles <= room_.cycles;
  }
  /// After settle(): whether this execution, and who knows how many after it, can be summed up. If not,
  /// nothing fits until the next begin().
  bool begin(const Execution& execution);

  /// Asks first what add() touches as well: a kind that there have been executions of is known.
  bool knows(u32 kind) const {
    return kind < executions_.size() && (executions_[kind] != 0 || row_of_[kind] != unknown);
  }
  /// `execution`: one of this kind, `since` the cycle of the retirement before it.
  void learn(u32 kind, std::span<const Retirement> execution, u64 since);

  /// The same from the signals that its instructions have as a rule.
  void learn(u32 kind, std::span<const SignalSet> usual);

  /// An execution that fits, of a kind that is known. False, and nothing has happened, if this kind cannot be
  /// summed up under the present programming.
  bool add(const Execution& execution) {
    u32& executions = executions_[execution.kind];
    if (executions == 0) [[unlikely]] {
      if (row_of_[execution.kind] == exact_only) return false;
      kinds_.push_back(execution.kind);
    }
    ++executions;
    cycles_ += execution.cycles;
    instructions_ += execution.instructions;
    newest_kind_ = execution.kind;
    return true;
  }
  /// Whether any of these signals makes a difference to a counter.
  bool counts(const SignalSet& signals) const { return signals.intersects(counted_signals_); }
  /// An instruction of it had other signals.
  void correct(const SignalSet& usual, const SignalSet& actual);

  /// Whether a counter counts more of an instruction than that it was there.
  bool counts_quantities() const { return counts_quantities_; }
  /// Those of which sums over instructions are enough; whether others must be compared one by one.
  const QuantitySet& summed_quantities() const { return summed_quantities_; }
  bool compares_quantities() const { return compares_quantities_; }
  /// Of an execution that is about to be added: its instructions one by one, and then what all of them sum up
  /// to, if no counter wraps. False: they do not fit, and are forgotten.
  void compare_quantities(const Retirement& retirement);
  bool take_quantities(const Quantities& sums);

  /// Whether counters compare what cycles hold, so that the one that is open must be known.
  bool sums_within_cycles() const { return sums_within_cycles_; }
  /// The execution that was added has passed a cycle: the open one is empty.
  void open_cycle() { in_cycle_ = {}; }
  /// An instruction of the open cycle.
  void add_to_cycle(const SignalSet& signals);

  /// Whether there is a use for taken branches.
  bool records_branches() const { return branches_.any_wanted(); }
  /// The last branch of the execution that was added last, taken or not.
  void record(const Branch& branch, bool taken) {
    if (!branches_.add(branch, taken)) [[unlikely]]
      record_special(Branch(branch));  // of a copy: what is referred to would be in memory for every branch
  }

  /// Taken branches of what is not counted, up to take_in_branches(): record() those in between. It goes on
  /// before the Pmu is used by anybody else.
  void begin_branches();
  void take_in_branches();

  /// Cycles that were added since begin().
  u64 cycles() const { return cycles_; }
  /// Whether anything was.
  bool is_behind() const { return instructions_ != 0; }
  /// The Pmu comes up to what was added. `registers`: after the last instruction, null if not known. Nothing
  /// fits until the next begin().
  void settle(const Registers* registers);

 private:
  using Row = CounterRow;
  static constexpr u32 unknown = ~u32{0}, exact_only = unknown - 1;

  void forget_kinds(u64 programming);
  void sum_up_kinds();
  void record_special(const Branch& branch);

  Sequencer& sequencer() const { return *pmu_.sequencer_; }
  u32& row_of(u32 kind);

  Pmu& pmu_;
  RunShape shape_;
  CounterRoom room_;
  PendingBranches branches_;
  u64 cycles_ = 0, instructions_ = 0;
  Row sums_{};

  bool counts_quantities_ = false, compares_quantities_ = false, sums_within_cycles_ = false;
  QuantitySet summed_quantities_;
  std::vector<QuantityTerm> quantity_terms_;
  CounterSums quantities_{}, pending_quantities_{}, quantity_room_{};
  Row in_cycle_{};

  u64 programming_ = 0;       // for which the rows hold
  std::size_t counters_ = 0;  // in a row
  SignalSet counted_signals_;
  // Executions are counted by kind, and multiplied when they are read: a program with much code would touch
  // a row of another block with each of them.
  std::vector<u32> executions_, row_of_;  // by kind
  std::vector<u32> kinds_;                // of which there were executions
  std::vector<Row> rows_;
  using LastCycle = decltype(CounterTotals::in_last_cycle);
  std::vector<LastCycle> last_cycles_;  // by row
  u32 newest_kind_ = 0;
};

}  // namespace pmusim

#endif
