// SPDX-License-Identifier: MIT
#include "core/execution_ports.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/quantities.h"

namespace pmusim {
namespace {

// By LoadMissed.
constexpr struct {
  Quantity under_way, stalled;
} cycles_of_loads[load_misses] = {
    {Quantity::cycles_loads, Quantity::cycles_stalled_loads},
    {Quantity::cycles_l1d_misses, Quantity::cycles_stalled_l1d_misses},
    {Quantity::cycles_l2_misses, Quantity::cycles_stalled_l2_misses},
    {Quantity::cycles_l3_misses, Quantity::cycles_stalled_l3_misses},
};

// How many ports are busy in each of 64 cycles: sets of cycles with at least one, two, three and four. And in
// which of them loads are waited for, or the scheduler is empty.
void count_busy(const std::array<u64, execution_ports>& ports, const LoadsUnderWay::Cycles& loads, u64 empty,
                Quantities& quantities) {
  u64 one = 0, two = 0, three = 0, four = 0;
  for (const u64 busy : ports) {
    four |= three & busy;
    three |= two & busy;
    two |= one & busy;
    one |= busy;
  }
  const auto add = [&](Quantity which, u64 cycles) {
    at(quantities, which) += static_cast<u32>(std::popcount(cycles));
  };
  add(Quantity::cycles_executing_none, ~one);
  add(Quantity::cycles_executing_one, one & ~two);
  add(Quantity::cycles_executing_two, two & ~three);
  add(Quantity::cycles_executing_three, three & ~four);
  add(Quantity::cycles_executing_more, four);
  add(Quantity::cycles_executing_none_of_some, ~(one | empty));
  add(Quantity::scheduler_empty_cycles, empty);
  for (unsigned level = 0; level < load_misses; ++level) {
    add(cycles_of_loads[level].under_way, loads[level]);
    add(cycles_of_loads[level].stalled, loads[level] & ~one);
  }
}

}  // namespace

ExecutionPorts::ExecutionPorts(const CoreParameters& p) : scheduler_uops_(p.scheduler_uops) {
  for (unsigned port = 0; port < execution_ports; ++port) counted_[port] = port_quantity(p.port_events, port);
}

void ExecutionPorts::tell_work(Quantities& quantities) {
  u64 executed = std::exchange(placed_anywhere_, 0);
  for (unsigned port = 0; port < execution_ports; ++port) {
    const u64 uops = (work_[port] - reported_work_[port]) >> number_bits;
    executed += uops;
    if (counted_[port] != Quantity::none) at(quantities, counted_[port]) += static_cast<u32>(uops);
  }
  at(quantities, Quantity::uops_executed) += static_cast<u32>(executed);
  reported_work_ = work_;
}

void ExecutionPorts::forget_until(u64 cycle, LoadsUnderWay& loads, Quantities& quantities) {
  const u64 word = cycle / 64;
  has_reported_ = true;
  tell_work(quantities);
  const u64 last = std::min(word, std::max({first_word_ + words, loads.end_word(), empty_.end_word()}));
  for (; first_word_ < last; ++first_word_) {
    count_busy(busy_[first_word_ % words], loads.take(first_word_), empty_.take(first_word_)[0], quantities);
    busy_[first_word_ % words].fill(0);
    std::fill_n(busy_in_.begin() + static_cast<std::ptrdiff_t>(first_word_ % words * 64), 64, PortMask{0});
  }
  at(quantities, Quantity::cycles_executing_none) += static_cast<u32>((word - first_word_) * 64);
  first_word_ = word;
  loads.skip_to(word);
  empty_.skip_to(word);
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

// Before that cycle nothing comes any more.
void ExecutionPorts::note_empty(u64 until) {
  const CycleSpan span{std::max(occupied_until_ + 1, empty_until_), until};
  if (span.empty()) return;
  empty_.mark(0, span);
  empty_until_ = until;
}

void ExecutionPorts::enter_later(u64 cycle, Quantities& quantities) {
  note_empty(cycle);
  if (cycle > occupied_until_ + 1) ++at(quantities, Quantity::scheduler_empty_periods);
  occupied_until_ = cycle;
}

u64 ExecutionPorts::admit_later(u64 cycle, LoadsUnderWay& loads, Quantities& quantities) {
  while (waiting_ != 0 && leave_next(cycle)) {
  }
  note_empty(cycle);
  now_ = std::max(now_, cycle);
  while (waiting_ >= scheduler_uops_) leave_next(now_ + window_cycles);
  if (first_word_ != now_ / 64) forget_until(now_, loads, quantities);
  return now_;
}

/// The first cycle from `cycle` on, or `end`, in which one of `ports` is free.
u64 ExecutionPorts::first_free(PortMask ports, u64 cycle, u64 end) {
  for (const u64 near = std::min(end, cycle + near_cycles); cycle < near; ++cycle)
    if ((ports & ~busy_in_[cycle % window_cycles]) != 0) return cycle;
  for (; cycle < end; cycle = (cycle / 64 + 1) * 64) {
    const BusyWord& busy = word_of(cycle);
    u64 taken = ~u64{0};
    for (PortMask left = ports; left != 0; left &= left - 1)
      taken &= busy[static_cast<unsigned>(std::countr_zero(left))];
    const u64 free = ~taken >> (cycle % 64);
    if (free != 0) return cycle + static_cast<unsigned>(std::countr_zero(free));
  }
  return end;
}

u64 ExecutionPorts::place_later(PortMask ports, u64 earliest) {
  const u64 end = end_of_window();
  const u64 cycle = first_free(ports, earliest, end);
  if (cycle == end) return place_anywhere(end);
  return take_least_used(ports & ~busy_in_[cycle % window_cycles], cycle);
}

u64 ExecutionPorts::hold(unsigned unit, u64 cycles, u64 ready) {
  const u64 start = std::max(ready, unit_free_[unit]);
  unit_free_[unit] = start + cycles;
  return wait(start);
}

}  // namespace pmusim
