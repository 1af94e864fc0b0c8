// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_ANNOTATE_COUNTED_PROGRAM_H
#define PMUSIM_TESTS_ANNOTATE_COUNTED_PROGRAM_H

#include <vector>

#include "pmusim/perf/abi.h"

/// tests/annotate/programs/counted.s, and a run of it that is short enough to count by hand.
namespace pmusim::annotate::counted {

inline constexpr const char* path = TEST_COUNTED;
inline constexpr const char* source = TEST_COUNTED_SOURCE;
/// Where processes of the tests have it: so much above its own addresses.
inline constexpr u64 moved = 0x100000;
inline constexpr u64 start = 0x401000, text_offset = 0x1000, text_bytes = 0x1000;
inline constexpr u64 round = 0x401005, skip = 0x401011, leaf = 0x401020, tail = 0x401030;
inline constexpr u64 je = 0x40100a, call = 0x40100c, jne = 0x401013, ret = 0x401021, jmp = 0x401033;

struct Taken {
  u64 from, to;
  bool predicted = true;
  u16 cycles = 0;
};

/// From the jump to _start on, oldest first: the loop skips the call, calls, and skips it again.
inline const std::vector<Taken>& three_rounds() {
  static const std::vector<Taken> run{{jmp, start, true, 9}, {je, skip, false, 6}, {jne, round, true, 3},
                                      {call, leaf, true, 8}, {ret, skip, true, 5}, {jne, round, true, 1},
                                      {je, skip, true, 4},   {jne, round, true, 2}};
  return run;
}

/// As perf_event has it: newest first, at the addresses of a process.
inline std::vector<perf::BranchEntry> newest_first(const std::vector<Taken>& oldest_first,
                                                   u64 distance = moved) {
  std::vector<perf::BranchEntry> entries;
  for (const Taken& taken : oldest_first) {
    perf::BranchEntry entry;
    entry.from = taken.from + distance;
    entry.to = taken.to + distance;
    entry.predicted = taken.predicted ? 1 : 0;
    entry.mispred = taken.predicted ? 0 : 1;
    entry.cycles = taken.cycles;
    entries.insert(entries.begin(), entry);
  }
  return entries;
}

}  // namespace pmusim::annotate::counted

#endif
