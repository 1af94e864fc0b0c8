// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_ADDRESS_NUMBERS_H
#define PMUSIM_TRACE_ADDRESS_NUMBERS_H

#include <array>
#include <deque>
#include <map>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::trace {

/// The number of each address of an instruction, counted from 0 in the order of asking.
///
/// Addresses come in lines: who asks for one is going to ask for its neighbours. The lines are found in a
/// table that is probed from a line's place on. Whoever chooses the addresses can give many the same place,
/// so only so many slots are looked at: a line that finds none of them free is kept in order, where finding
/// it costs the logarithm of their number.
class AddressNumbers {
 public:
  struct Number {
    u32 value = 0;
    bool is_new = false;
  };
  Number number(u64 address);
  std::size_t size() const { return size_; }

  static constexpr u64 line_bytes = 32;
  static constexpr std::size_t most_probes = 32;
  /// Lines that found no slot.
  std::size_t lines_without_slot() const { return others_.size(); }

 private:
  using Line = std::array<u32, line_bytes>;  // numbers from 1; 0: none yet
  struct Slot {
    u64 number = 0;  // address / line_bytes
    Line* line = nullptr;
  };
  Line& line_of(u64 number);
  Line*& place_of(u64 number);
  void grow();

  std::deque<Line> lines_;  // references stay valid
  std::vector<Slot> slots_;
  std::map<u64, Line*> others_;
  Slot latest_;
  std::size_t size_ = 0;
};

}  // namespace pmusim::trace

#endif
