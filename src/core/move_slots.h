// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_MOVE_SLOTS_H
#define PMUSIM_CORE_MOVE_SLOTS_H

#include <array>
#include <bit>

#include "pmusim/x86/instruction.h"

namespace pmusim {

/// Which moves the renamer does without a uop, of one kind of registers.
///
/// A move that is eliminated gives a value another name, and such a value has a slot as long as it has two
/// names, or until the last one is written, too. Moves get the slots that were free some cycles ago, less
/// those that other moves have got since (A. Abel and J. Reineke, "uiCA", ICS 2022, 4.1.3).
class MoveSlots {
 public:
  /// `slots` at most 64. A slot that is free again is known to be `delay` cycles later, 1 to 3.
  MoveSlots(unsigned slots, u64 delay, bool last_name_keeps_slot)
      : slots_(slots), delay_(delay), last_name_keeps_slot_(last_name_keeps_slot) {
    value_of_.fill(no_value);
  }

  /// Registers that name a value with a slot.
  x86::RegisterMask names() const { return names_; }
  /// A move that is renamed in `cycle`, not before any other call's: whether it is eliminated. If not,
  /// write().
  bool eliminate(unsigned from, unsigned to, u64 cycle);
  /// A register gets another value in `cycle`.
  void write(unsigned to, u64 cycle) {
    if ((names_ & bit(to)) == 0) return;
    go_on_to(cycle);
    leave(to);
  }

 private:
  static constexpr u8 no_value = 0xFF;
  static constexpr u64 cycles_seen = 4;
  struct Cycle {
    unsigned moves = 0, taken = 0;  // eliminated in it, and slots taken at its end
  };
  Cycle& seen(u64 cycle) { return seen_[cycle % cycles_seen]; }
  void go_on_to(u64 cycle);
  void leave(unsigned name);
  void free_slots();

  unsigned slots_;
  u64 delay_;
  bool last_name_keeps_slot_;
  std::array<x86::RegisterMask, 64> names_of_{};  // by value; 0: free
  std::array<u8, 64> value_of_{};                 // by register
  x86::RegisterMask names_ = 0;
  unsigned taken_ = 0;
  u64 now_ = 0;
  std::array<Cycle, cycles_seen> seen_{};
};

}  // namespace pmusim

#endif
