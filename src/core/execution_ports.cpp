// SPDX-License-Identifier: MIT
#include "core/execution_ports.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pmusim {

void ExecutionPorts::forget_until(u64 cycle) {
  const u64 word = cycle / 64;
  if (word - first_word_ >= words) {
    busy_.fill({});
    first_word_ = word;
  }
  for (; first_word_ < word; ++first_word_) busy_[first_word_ % words].fill(0);
}

// The next uop that starts until `limit` leaves the scheduler.
bool ExecutionPorts::leave_next(u64 limit) {
  for (u64 next = now_ + 1; next <= limit; next = (next | 63) + 1) {
    u64& word = any_starting_[next / 64 % words];
    const u64 later = word >> (next % 64);
    if (later == 0) continue;
    const u64 found = next + static_cast<unsigned>(std::countr_zero(later));
    if (found > limit) return false;
    word &= ~bit(found % 64);
    waiting_ -= std::exchange(starting_[found % window_cycles], u16{0});
    now_ = found;
    return true;
  }
  return false;
}

u64 ExecutionPorts::admit(u64 cycle) {
  while (waiting_ != 0 && leave_next(cycle)) {
  }
  now_ = std::max(now_, cycle);
  while (waiting_ >= scheduler_uops_) leave_next(now_ + window_cycles);
  forget_until(now_);
  return now_;
}

u64 ExecutionPorts::wait(u64 start) {
  if (start <= now_ || start >= now_ + window_cycles - 64) return start;
  ++starting_[start % window_cycles];
  any_starting_[start / 64 % words] |= bit(start % 64);
  ++waiting_;
  return start;
}

u64 ExecutionPorts::place(PortMask ports, u64 ready) {
  const u64 end = end_of_window();
  u64 cycle = std::max(ready, first_word_ * 64);
  for (; cycle < end; cycle = (cycle / 64 + 1) * 64) {
    const BusyWord& busy = word_of(cycle);
    u64 taken = ~u64{0};
    for (PortMask left = ports; left != 0; left &= left - 1)
      taken &= busy[static_cast<unsigned>(std::countr_zero(left))];
    const u64 free = ~taken >> (cycle % 64);
    if (free == 0) continue;
    cycle += static_cast<unsigned>(std::countr_zero(free));
    unsigned best = execution_ports;
    for (PortMask left = ports; left != 0; left &= left - 1) {
      const auto port = static_cast<unsigned>(std::countr_zero(left));
      if ((busy[port] >> (cycle % 64) & 1) != 0) continue;
      if (best == execution_ports || work_[port] < work_[best]) best = port;
    }
    ++work_[best];
    take(best, cycle);
    return wait(cycle);
  }
  return cycle;
}

u64 ExecutionPorts::hold(unsigned unit, u64 cycles, u64 ready) {
  const u64 start = std::max(ready, unit_free_[unit]);
  unit_free_[unit] = start + cycles;
  return wait(start);
}

}  // namespace pmusim
