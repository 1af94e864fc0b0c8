// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_NATURAL_LOOPS_H
#define PMUSIM_SRC_WHY_NATURAL_LOOPS_H

#include <optional>
#include <utility>
#include <vector>

#include "why/distribution.h"

namespace pmusim::why {

/// How often a loop went round.
struct TripCounts {
  Distribution trips;                ///< by entry: executions of the loop's first instruction
  u64 rounds = 0, round_cycles = 0;  ///< from one such execution to the next, calls included
  TripCounts& operator+=(const TripCounts& other) {
    trips += other.trips;
    rounds += other.rounds;
    round_cycles += other.round_cycles;
    return *this;
  }
};

/// A loop in one address space.
struct CountedLoop {
  u32 space = 0;
  u64 header = 0;                           ///< address
  std::vector<std::pair<u64, u64>> blocks;  ///< basic blocks [first, end), by address
  std::optional<std::size_t> parent;        ///< number of the loop around it
  TripCounts counts;
};

/// A straight line of code that control enters at its first instruction only, and where it goes from there.
struct BasicBlock {
  u64 first = 0, end = 0;
  std::vector<u32> next;  ///< numbers of blocks
};

/// Blocks by number, the header first.
using NaturalLoop = std::vector<u32>;

/// The natural loops of a flow graph: for each edge to a block that dominates where it comes from, that block
/// and all that lead to the edge without passing it; loops with a header in common are one. `entries` are
/// blocks that control enters from elsewhere; a block that no entry leads to is taken for one. Larger loops
/// come first.
std::vector<NaturalLoop> natural_loops(const std::vector<BasicBlock>& graph, const std::vector<u32>& entries);

}  // namespace pmusim::why

#endif
