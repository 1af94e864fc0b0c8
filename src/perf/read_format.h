// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_READ_FORMAT_H
#define PMUSIM_SRC_PERF_READ_FORMAT_H

#include <bit>
#include <vector>

#include "pmusim/perf/abi.h"

/// The words that read() and SAMPLE_READ give (enum perf_event_read_format).
namespace pmusim::perf {

/// What one event contributes.
struct ReadEntry {
  u64 value = 0, id = 0, lost = 0;
};
struct ReadTimes {
  u64 enabled = 0, running = 0;
};

/// Number of words for a group of `members` events.
constexpr std::size_t read_words(u64 format, std::size_t members) {
  const auto times = static_cast<std::size_t>(
      std::popcount(format & (read_format::TOTAL_TIME_ENABLED | read_format::TOTAL_TIME_RUNNING)));
  const auto entry =
      1 + static_cast<std::size_t>(std::popcount(format & (read_format::ID | read_format::LOST)));
  return format & read_format::GROUP ? 1 + times + members * entry : times + entry;
}

/// Appends to `words` the layout of `format`. Without GROUP `entries` has one entry.
template <class Entries>
void put_read_values(std::vector<u64>& words, u64 format, ReadTimes times, const Entries& entries) {
  const auto put_times = [&] {
    if (format & read_format::TOTAL_TIME_ENABLED) words.push_back(times.enabled);
    if (format & read_format::TOTAL_TIME_RUNNING) words.push_back(times.running);
  };
  const bool group = (format & read_format::GROUP) != 0;
  if (group) {
    words.push_back(entries.size());
    put_times();
  }
  for (const ReadEntry& entry : entries) {
    words.push_back(entry.value);
    if (!group) put_times();
    if (format & read_format::ID) words.push_back(entry.id);
    if (format & read_format::LOST) words.push_back(entry.lost);
  }
}

}  // namespace pmusim::perf

#endif
