// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_CACHE_EVENTS_H
#define PMUSIM_SRC_CPU_CORES_CACHE_EVENTS_H

#include "cpu/core_facts.h"
#include "event_rows.h"

/// The words that tables of perf's cache events are written in, and the rows that several cores have.
namespace pmusim::event_rows {

using enum CacheId;
using enum CacheResult;
inline constexpr CacheOperation read = CacheOperation::read, write = CacheOperation::write;

/// Rows of last-level events through an off-core response register.
constexpr auto last_level(u64 event, const LastLevelValues& values) {
  return std::array{
      CacheEvent{ll, read, access, event, values.read},
      CacheEvent{ll, read, miss, event, values.read_miss},
      CacheEvent{ll, write, access, event, values.write},
      CacheEvent{ll, write, miss, event, values.write_miss},
  };
}

/// Where reads and writes ask for the same answers.
constexpr LastLevelValues demand_last_level(u64 any, u64 misses) {
  return {.read = any | 1, .read_miss = misses | 1, .write = any | 2, .write_miss = misses | 2};
}
inline constexpr u64 any_response = 0x10000, any_omr_response = 0x4000'0000'0000'0000;

/// A table in which one row is another.
template <std::size_t Size>
constexpr auto changed(std::array<CacheEvent, Size> rows, const CacheEvent& row) {
  for (CacheEvent& r : rows)
    if (r.cache == row.cache && r.operation == row.operation && r.result == row.result) r = row;
  return rows;
}

}  // namespace pmusim::event_rows

#endif
