// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_EVENT_SUMS_H
#define PMUSIM_SRC_WHY_EVENT_SUMS_H

#include <array>
#include <optional>
#include <vector>

#include "core/interval_core.h"
#include "cpu/quantity_set.h"
#include "events/summed_event.h"
#include "why/event_counts.h"

namespace pmusim::why {

/// What the core has counted since the replay began, modulo 2^32.
struct RunningTotals {
  Quantities quantities{};  ///< Pipeline::lost, and what others have added
  u32 refills = 0;          ///< instructions with recovery_cycles
};

/// How often events occur in each block, over one replay.
///
/// What an execution costs does not grow with the number of events: quantities are added up once for all of
/// them, and instructions are counted by the signals that they have. Events are made of that in the end.
class EventSums {
 public:
  explicit EventSums(std::vector<events::SummedEvent> events);

  /// The number of one more block.
  u32 add_block(const trace::Block& block);

  /// An execution that has just passed. `so_far` has its lost time, and gets the rest. Its signals are those
  /// of add_signals() and correct(), unless it jumps within.
  void add(u32 block, const IntervalCore& core, const BlockExecution& execution, RunningTotals& so_far);
  /// Instructions with these signals.
  void add_signals(u32 block, const SignalSet& signals, u64 times) { count(block, signals, times); }
  /// One that was added had others.
  void correct(u32 block, const SignalSet& added, const SignalSet& actual) {
    if (!(added ^ actual).intersects(signals_)) return;
    count(block, added, ~u64{0});
    count(block, actual, 1);
  }

  /// The program is over in this cycle, which nobody has seen close.
  void finish(u64 cycle);
  EventCounts counts(u32 block) const;

 private:
  struct Kept {
    Quantity quantity = Quantity::none;
    std::size_t place = 0;  // in a row
    u32 seen = 0;           // of the totals before
  };
  struct SignalCount {
    SignalSet signals;
    u64 times = 0;  // modulo 2^64
  };
  /// An event by cycles.
  struct Cycles {
    SignalSet signals;
    std::size_t place = 0;
    std::optional<u64> last{};  // cycle with such an instruction
    u64 begun = 0;              // and the first of those in a row
    u32 block = 0;              // that has this one
  };
  static constexpr std::size_t refills_place = 0;

  static u32 of(const Quantities& quantities, const Kept& kept) {
    return quantities[static_cast<std::size_t>(kept.quantity)];
  }
  void keep(Quantity quantity);
  void add_each(u32 block, const IntervalCore& core, const BlockExecution& execution);
  void add_cycles(u32 block, const IntervalCore& core, const BlockExecution& execution);
  void add_to_cycle(u32 block, u64 cycle, const SignalSet& signals);
  bool may_have_cycles(u32 block, const IntervalCore& core) const;
  void count(u32 block, const SignalSet& signals, u64 times);
  u64* row(u32 block) { return rows_.data() + block * row_size_; }
  const u64* row(u32 block) const { return rows_.data() + block * row_size_; }

  std::vector<events::SummedEvent> events_;
  SignalSet signals_;  // that any event asks for
  std::vector<Kept> kept_;
  u32 refills_seen_ = 0;
  std::vector<Cycles> cycles_;
  SignalSet signals_of_cycles_;   // that they ask for
  std::vector<bool> has_cycles_;  // by block: its code has such signals
  QuantitySet asked_;             // of these, what the core is asked for
  std::array<std::size_t, static_cast<std::size_t>(Quantity::count_)> places_{};
  std::size_t row_size_ = 1;
  std::vector<u64> rows_;                                // by block
  std::vector<std::vector<SignalCount>> signal_counts_;  // by block
};

}  // namespace pmusim::why

#endif
