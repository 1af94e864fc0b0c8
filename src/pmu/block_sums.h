// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PMU_BLOCK_SUMS_H
#define PMUSIM_PMU_BLOCK_SUMS_H

#include <vector>

#include "lbr/branch.h"
#include "msr/counter_totals.h"

namespace pmusim {

/// What is in a BlockTotals.
struct BlockSums {
  CounterTotals counters;
  std::vector<Branch> branches;  ///< taken ones; cycles count from the retirement before the block
};

}  // namespace pmusim

#endif
