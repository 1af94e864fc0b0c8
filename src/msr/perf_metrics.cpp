// SPDX-License-Identifier: MIT
#include "msr/perf_metrics.h"

#include <algorithm>

namespace pmusim {
namespace {

// In the order of the register's bytes (SDM vol. 3, performance metrics).
constexpr Quantity sources[] = {Quantity::uops,
                                Quantity::slots_bad_speculation,
                                Quantity::slots_frontend,
                                Quantity::slots_backend,
                                Quantity::slots_heavy,
                                Quantity::slots_branch_mispredict,
                                Quantity::slots_fetch_latency,
                                Quantity::slots_memory};

constexpr u64 whole = 0xFF;
constexpr unsigned count_width = 48;

/// part / all in 255ths, rounded, without overflow for 48-bit counts.
u64 fraction(u64 part, u64 all) {
  if (all == 0) return 0;
  return std::min(whole, (std::min(part, all) * whole + all / 2) / all);
}

}  // namespace

PerfMetrics::Slots PerfMetrics::slots_in(const Quantities& quantities) {
  Slots slots;
  for (unsigned i = 0; i < slots.size(); ++i) slots[i] = quantities[static_cast<unsigned>(sources[i])];
  return slots;
}

u64 PerfMetrics::headroom(const Slots& slots, u64 at_most) const {
  u64 times = at_most;
  for (unsigned i = 0; i < bytes_; ++i)
    if (slots[i] != 0) times = std::min(times, (low_bits(count_width) - slots_of_[i]) / slots[i]);
  return times;
}

bool PerfMetrics::count(const Slots& slots) {
  bool passed = false;
  counted_ = true;
  for (unsigned i = 0; i < bytes_; ++i) {
    slots_of_[i] += slots[i];
    if (slots_of_[i] > low_bits(count_width)) {
      slots_of_[i] &= low_bits(count_width);
      passed = true;
    }
  }
  return passed;
}

u64 PerfMetrics::byte_of(unsigned metric, u64 slots) const {
  if (metric != backend_bound) return fraction(slots_of_[metric], slots);
  u64 others = 0;
  for (unsigned i = 0; i < backend_bound; ++i) others += fraction(slots_of_[i], slots);
  return slots == 0 ? 0 : whole - std::min(whole, others);
}

u64 PerfMetrics::read(u64 slots) const {
  if (!counted_) return written_;
  u64 value = 0;
  for (unsigned i = 0; i < bytes_; ++i) value |= byte_of(i, slots) << (8 * i);
  return value;
}

void PerfMetrics::write(u64 value, u64 slots) {
  written_ = value & low_bits(8 * bytes_);
  counted_ = false;
  for (unsigned i = 0; i < bytes_; ++i) slots_of_[i] = field(value, 8 * i + 7, 8 * i) * slots / whole;
}

}  // namespace pmusim
