// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_EVENT_COUNTS_H
#define PMUSIM_SRC_WHY_EVENT_COUNTS_H

#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::why {

/// What was counted of some code for a top-down tree.
struct EventCounts {
  u64 cycles = 0;                ///< from the retirement before each of its blocks to the block's last
  std::vector<u64> occurrences;  ///< by TopdownTree::events()

  EventCounts& operator+=(const EventCounts& other) {
    cycles += other.cycles;
    if (occurrences.size() < other.occurrences.size()) occurrences.resize(other.occurrences.size());
    for (std::size_t n = 0; n < other.occurrences.size(); ++n) occurrences[n] += other.occurrences[n];
    return *this;
  }
};

}  // namespace pmusim::why

#endif
