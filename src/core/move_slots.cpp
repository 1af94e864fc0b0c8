// SPDX-License-Identifier: MIT
#include "core/move_slots.h"

#include <algorithm>

namespace pmusim {

void MoveSlots::leave(unsigned name) {
  u8& value = value_of_[name];
  if (value == no_value) return;
  names_of_[value] &= ~bit(name);
  if (names_of_[value] == 0) --taken_;
  value = no_value;
  names_ &= ~bit(name);
}

// Those of values that have one name left, unless it keeps them.
void MoveSlots::free_slots() {
  if (last_name_keeps_slot_ || taken_ == 0) return;
  for (x86::RegisterMask left = names_; left != 0; left &= left - 1) {
    const auto name = static_cast<unsigned>(std::countr_zero(left));
    if (std::has_single_bit(names_of_[value_of_[name]])) leave(name);
  }
}

// They are freed in cycles without moves.
void MoveSlots::go_on_to(u64 cycle) {
  if (cycle == now_) return;
  if (seen(now_).moves == 0) free_slots();
  seen(now_).taken = taken_;
  if (cycle != now_ + 1) free_slots();
  for (u64 next = std::max(now_ + 1, cycle - std::min(cycle, cycles_seen - 1)); next <= cycle; ++next)
    seen(next) = {0, taken_};
  now_ = cycle;
}

bool MoveSlots::eliminate(unsigned from, unsigned to, u64 cycle) {
  go_on_to(cycle);
  unsigned taken = seen(cycle - std::min(cycle, delay_)).taken + seen(cycle).moves;
  for (u64 back = 1; back < delay_ && back <= cycle; ++back) taken += seen(cycle - back).moves;
  if (taken >= slots_) return false;
  ++seen(cycle).moves;
  u8 value = value_of_[from];
  if (value == no_value) {
    value = static_cast<u8>(std::ranges::find(names_of_, x86::RegisterMask{0}) - names_of_.begin());
    value_of_[from] = value;
    names_of_[value] = bit(from);
    ++taken_;
  }
  if (value_of_[to] != value) leave(to);
  value_of_[to] = value;
  names_of_[value] |= bit(to);
  names_ |= names_of_[value];
  return true;
}

}  // namespace pmusim
