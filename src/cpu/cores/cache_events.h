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

/// Last-level events of the cores whose off-core responses go through the OMR registers.
constexpr auto omr_last_level(u64 event) {
  return std::array{
      CacheEvent{ll, read, access, event, 0x4000'0000'0000'0001},
      CacheEvent{ll, read, miss, event, 0x00FF'FFF0'0000'0001},
      CacheEvent{ll, write, access, event, 0x4000'0000'0000'0002},
      CacheEvent{ll, write, miss, event, 0x00FF'FFF0'0000'0002},
  };
}

/// A table in which one row is another.
template <std::size_t Size>
constexpr auto changed(std::array<CacheEvent, Size> rows, const CacheEvent& row) {
  for (CacheEvent& r : rows)
    if (r.cache == row.cache && r.operation == row.operation && r.result == row.result) r = row;
  return rows;
}

}  // namespace pmusim::event_rows

#endif
