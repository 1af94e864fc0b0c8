// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SCENARIO_RETIRE_WORDS_H
#define PMUSIM_SCENARIO_RETIRE_WORDS_H

#include <vector>

#include "pmusim/cpu/retirement.h"
#include "scenario/words.h"

namespace pmusim::scenario {

// A text cannot ask for unbounded time or memory.
inline constexpr u64 max_retirements = 1'000'000, max_wait_cycles = 1'000'000'000, max_memory_bytes = 1 << 20;

/// What a `retire` statement says: `count` instructions that are alike but for their place and time.
struct Retired {
  u64 count = 1;
  u64 cycles = 1;   ///< between one group and the next
  u64 at_once = 1;  ///< instructions in a group, which retire in one cycle
  std::optional<u64> ip;
  u64 target = 0;
  Retirement retirement;
  std::vector<MemoryAccess> accesses;
};

/// [COUNT] then any of: ring 0|3, ip ADDRESS, to TARGET, KIND of branch, not-taken, mispredicted,
/// in-transaction, uops N, load ADDRESS, store ADDRESS, latency CYCLES, cycles N, at-once N.
Retired parse_retired(Words& words);

}  // namespace pmusim::scenario

#endif
