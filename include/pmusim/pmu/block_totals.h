#ifndef PMUSIM_PMU_BLOCK_TOTALS_H
#define PMUSIM_PMU_BLOCK_TOTALS_H

#include <vector>

#include "pmusim/lbr/branch.h"
#include "pmusim/msr/counter_totals.h"

namespace pmusim {

/// What one execution of a block of instructions does to a Pmu while nothing overflows: `Pmu::totals` makes
/// it, `Pmu::advance` applies it.
struct BlockTotals {
  CounterTotals counters;
  std::vector<Branch> branches;  ///< taken ones; cycles count from the retirement before the block
};

}  // namespace pmusim

#endif
