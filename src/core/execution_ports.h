// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_EXECUTION_PORTS_H
#define PMUSIM_CORE_EXECUTION_PORTS_H

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/cycle_marks.h"
#include "core/port_groups.h"
#include "pmusim/cpu/core_parameters.h"

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

  /// `p.scheduler_uops` at least 1.
  explicit ExecutionPorts(const CoreParameters& p);

  /// The first cycle from `cycle` on in which the scheduler has room for another uop. Later uops are placed
  /// from that cycle on. When 64 more cycles are over, tells in `quantities` how many uops started in each of
  /// them and which loads were under way, and which ports uops were placed on meanwhile.
  u64 admit(u64 cycle, LoadsUnderWay& loads, Quantities& quantities) {
    if (cycle <= now_ && waiting_ < scheduler_uops_) return now_;
    return admit_later(cycle, loads, quantities);
  }
  /// Uops come to the scheduler in this cycle, not before one that was admitted.
  void enter(u64 cycle, Quantities& quantities) {
    if (cycle > occupied_until_) enter_later(cycle, quantities);
  }
  /// When a uop whose operands are there in `ready` starts, on one of `ports` (at least one).
  u64 place(PortMask ports, u64 ready) {
    const u64 earliest = std::max(ready, first_word_ * 64);
    if (earliest >= end_of_window()) [[unlikely]]
      return place_anywhere(earliest);
    const PortMask free = ports & ~busy_in_[earliest % window_cycles];
    return free != 0 ? take_least_used(free, earliest) : place_later(ports, earliest);
  }
  /// When it would.
  u64 place_for(PortMask ports, u64 ready) {
    const u64 earliest = std::max(ready, first_word_ * 64);
    return first_free(ports, earliest, std::max(earliest, end_of_window()));
  }
  /// The same where it keeps its unit (a divider, the microcode sequencer) for `cycles`: in program order.
  u64 hold(unsigned unit, u64 cycles, u64 ready);
  /// Whether admit() has reported cycles since the last call.
  bool take_reported() { return std::exchange(has_reported_, false); }

 private:
  static constexpr unsigned words = window_cycles / 64;
  static constexpr u64 near_cycles = 4;               // that are looked at one by one
  using BusyWord = std::array<u64, execution_ports>;  // 64 cycles of every port

  BusyWord& word_of(u64 cycle) { return busy_[cycle / 64 % words]; }
  u64 admit_later(u64 cycle, LoadsUnderWay& loads, Quantities& quantities);
  u64 first_free(PortMask ports, u64 cycle, u64 end);
  u64 place_later(PortMask ports, u64 earliest);
  u64 place_anywhere(u64 cycle) {
    ++placed_anywhere_;
    return cycle;
  }
  void tell_work(Quantities& quantities);

  /// Uops that each port has had, and behind them its number; one more port that nobody ever chooses.
  using Work = std::array<u64, execution_ports + 1>;
  static constexpr unsigned number_bits = 5;
  static constexpr Work idle() {
    Work work{};
    for (unsigned port = 0; port < execution_ports; ++port) work[port] = port;
    work.back() = ~u64{0};
    return work;
  }
  // Four at a time, as most uops have no more to choose from.
  unsigned least_used(PortMask ports) const {
    u64 least = ~u64{0};
    do {
      for (unsigned n = 0; n < 4; ++n, ports &= ports - 1)
        least = std::min(least, work_[static_cast<unsigned>(std::countr_zero(ports))]);
    } while (ports != 0);
    return static_cast<unsigned>(least & low_bits(number_bits));
  }
  u64 take_least_used(PortMask free, u64 cycle) {
    const unsigned port = least_used(free);
    work_[port] += u64{1} << number_bits;
    take(port, cycle);
    return wait(cycle);
  }
  u64 end_of_window() const { return (first_word_ + words) * 64; }
  void forget_until(u64 cycle, LoadsUnderWay& loads, Quantities& quantities);
  void note_empty(u64 until);
  void enter_later(u64 cycle, Quantities& quantities);
  bool leave_next(u64 limit);
  void take(unsigned port, u64 cycle) {
    word_of(cycle)[port] |= bit(cycle % 64);
    busy_in_[cycle % window_cycles] |= PortMask{1} << port;
  }
  u64 wait(u64 start) {
    occupied_until_ = std::max(occupied_until_, start);
    if (start <= now_ || start >= now_ + window_cycles - 64) return start;
    ++starting_[start % window_cycles];
    any_starting_[start / 64 % words] |= bit(start % 64);
    ++waiting_;
    return start;
  }

  // The same twice: one for a look at a cycle, one to run along a port.
  std::array<PortMask, window_cycles> busy_in_{};
  std::array<BusyWord, words> busy_{};
  Work work_ = idle(), reported_work_ = work_;
  u32 placed_anywhere_ = 0;                          // beyond the window, since work was reported
  std::array<u64, execution_ports> unit_free_{};     // when each unit is free again
  std::array<u16, window_cycles> starting_{};        // uops by the cycle in which they start
  std::array<u64, words> any_starting_{};            // one bit per cycle
  std::array<Quantity, execution_ports> counted_{};  // what counts each port's uops
  u64 first_word_ = 0, now_ = 0;
  CycleMarks<1> empty_;                       // when the scheduler is
  u64 occupied_until_ = 0, empty_until_ = 0;  // it was last; so far it is known to be
  bool has_reported_ = false;
  unsigned scheduler_uops_, waiting_ = 0;
};

}  // namespace pmusim

#endif
