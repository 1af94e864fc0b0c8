// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_EXECUTION_PORTS_H
#define PMUSIM_CORE_EXECUTION_PORTS_H

#include <array>

#include "pmusim/cpu/instruction_cost.h"

namespace pmusim {

/// Which port is busy in which cycle, and how many uops wait for theirs.
///
/// A uop is placed once, when it is dispatched: in the first cycle from which its operands are there in which
/// one of its ports is free. So a younger uop takes a cycle that an older one, still waiting, leaves free, as
/// in a scheduler that picks whatever is ready. Of several free ports the one that has had the least work
/// takes it, which is what binding at allocation by the shortest queue comes to.
///
/// Sees `window_cycles` ahead of dispatch; a uop that starts later than that finds every port free.
class ExecutionPorts {
 public:
  static constexpr u64 window_cycles = 2048;

  /// `scheduler_uops` at least 1.
  explicit ExecutionPorts(unsigned scheduler_uops) : scheduler_uops_(scheduler_uops) {}

  /// The first cycle from `cycle` on in which the scheduler has room for another uop. Later uops are placed
  /// from that cycle on.
  u64 admit(u64 cycle);
  /// When a uop whose operands are there in `ready` starts, on one of `ports` (at least one).
  u64 place(PortMask ports, u64 ready);
  /// The same where it keeps its unit (a divider, the microcode sequencer) for `cycles`: in program order.
  u64 hold(unsigned unit, u64 cycles, u64 ready);

 private:
  static constexpr unsigned words = window_cycles / 64;
  using BusyWord = std::array<u64, execution_ports>;  // 64 cycles of every port

  BusyWord& word_of(u64 cycle) { return busy_[cycle / 64 % words]; }
  u64 end_of_window() const { return (first_word_ + words) * 64; }
  void forget_until(u64 cycle);
  bool leave_next(u64 limit);
  void take(unsigned port, u64 cycle) { word_of(cycle)[port] |= bit(cycle % 64); }
  u64 wait(u64 start);

  std::array<BusyWord, words> busy_{};
  std::array<u64, execution_ports> work_{};       // uops that each port has had
  std::array<u64, execution_ports> unit_free_{};  // when each unit is free again
  std::array<u16, window_cycles> starting_{};     // uops by the cycle in which they start
  std::array<u64, words> any_starting_{};         // one bit per cycle
  u64 first_word_ = 0, now_ = 0;
  unsigned scheduler_uops_, waiting_ = 0;
};

}  // namespace pmusim

#endif
