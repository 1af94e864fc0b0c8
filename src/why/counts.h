// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_COUNTS_H
#define PMUSIM_SRC_WHY_COUNTS_H

#include <array>
#include <string_view>

#include "pmusim/cpu/retirement.h"

namespace pmusim::why {

/// What is known of an instruction, a line or a function: sums over its executions.
///
/// Cycles of an instruction are those from the retirement before it to its own, but for those in which the
/// pipeline was refilled: they are cycles of the instruction that was mispredicted or cleared the pipeline.
/// So no cycle is left out, and none is counted twice.
enum class Column : u8 {
  // time; slots are issue_width a cycle
  cycles,
  mispredict_cycles,  ///< of `cycles`: refills after its mispredicts
  clear_cycles,       ///< of `cycles`: refills after its machine clears and aborts
  // of `cycles`: those in which nothing retired, because it waited for its load
  load_cycles,
  l1_miss_cycles,
  l2_miss_cycles,
  l3_miss_cycles,
  bad_speculation_slots,
  frontend_slots,
  backend_slots,
  memory_slots,        ///< of backend_slots
  store_buffer_slots,  ///< of memory_slots: no room for its store
  // of `cycles`: those of executions for which this was true
  blocked_cycles,
  alias_cycles,
  split_cycles,
  walk_cycles,
  tlb_cycles,  ///< of those that missed the first-level TLB and hit the second: at most its latency each
  // occurrences: one for each signal of the core
  instructions,
  branches,
  mispredicts,
  loads,
  stores,
  l1_misses,
  l2_misses,
  l3_misses,
  store_l1_misses,
  dtlb_misses,
  load_walks,
  store_walks,
  forward_blocks,
  address_aliases,
  split_loads,
  split_stores,
  locked,
  divisions,
  machine_clears,
  l1i_misses,
  itlb_misses,
  uop_cache_misses,
  resteers,
  count_
};

inline constexpr std::size_t columns = static_cast<std::size_t>(Column::count_);
inline constexpr std::size_t first_signal_column = static_cast<std::size_t>(Column::instructions);

class Counts {
 public:
  u64& operator[](Column c) { return values_[static_cast<std::size_t>(c)]; }
  u64 operator[](Column c) const { return values_[static_cast<std::size_t>(c)]; }
  Counts& operator+=(const Counts& other) {
    for (std::size_t c = 0; c < columns; ++c) values_[c] += other.values_[c];
    return *this;
  }
  friend bool operator==(const Counts&, const Counts&) = default;

 private:
  std::array<u64, columns> values_{};
};

/// As in JSON.
std::string_view name_of(Column column);
/// What the columns from `first_signal_column` on count.
inline constexpr std::array<Signal, columns - first_signal_column> counted_signals{
    Signal::instruction,
    Signal::branch,
    Signal::mispredicted,
    Signal::load,
    Signal::store,
    Signal::load_l1_miss,
    Signal::load_l2_miss,
    Signal::load_l3_miss,
    Signal::store_l1_miss,
    Signal::load_dtlb_miss,
    Signal::load_stlb_miss,
    Signal::store_stlb_miss,
    Signal::store_forward_blocked,
    Signal::address_alias,
    Signal::split_load,
    Signal::split_store,
    Signal::locked,
    Signal::divide,
    Signal::machine_clear,
    Signal::l1i_miss,
    Signal::itlb_miss,
    Signal::dsb_miss,
    Signal::front_end_resteer};

inline double ratio(u64 part, u64 whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace pmusim::why

#endif
