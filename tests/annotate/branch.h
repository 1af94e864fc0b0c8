// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_ANNOTATE_BRANCH_H
#define PMUSIM_TESTS_ANNOTATE_BRANCH_H

#include "pmusim/perf/abi.h"

namespace pmusim::annotate {

/// A record of a branch that was predicted.
inline perf::BranchEntry branch(u64 from, u64 to, u16 cycles = 0) {
  perf::BranchEntry entry;
  entry.from = from;
  entry.to = to;
  entry.predicted = 1;
  entry.cycles = cycles;
  return entry;
}

}  // namespace pmusim::annotate

#endif
