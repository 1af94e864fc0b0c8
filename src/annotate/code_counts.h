// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_CODE_COUNTS_H
#define PMUSIM_SRC_ANNOTATE_CODE_COUNTS_H

#include <map>
#include <vector>

#include "annotate/block_ranges.h"
#include "annotate/branch_counts.h"
#include "call_stacks.h"
#include "resolver.h"
#include "weights.h"

namespace pmusim::annotate {

/// Samples of one event at one address.
struct HitCount {
  u64 address = 0, event = 0;
  u64 samples = 0, period = 0;
  std::pair<u64, u64> key() const { return {address, event}; }
};

/// What was sampled in one address space and mode, by raw address. Branches may go to other modes.
struct SpaceCounts {
  PairTable<HitCount> hits;
  BranchCounts branches;
  CallStacks stacks;
};

/// What was sampled in one module, by address of the file.
struct ModuleCounts {
  std::map<u64, Weights> hits;
  BlockRanges ranges;
  std::vector<LineCount> lines;  ///< by key()
};

/// Taken branches between two places, whatever process they were in.
struct CodeEdge {
  Location from, to;
  EdgeCount count;
  std::pair<Location, Location> key() const { return {from, to}; }
};

/// Everything sampled, whatever process it was in.
struct CodeCounts {
  std::vector<ModuleCounts> modules;  ///< by number of the resolver
  std::vector<CodeEdge> edges;        ///< by key()
  u64 lines = 0, broken_lines = 0;
};

/// Adds up address spaces.
CodeCounts sum_up(const std::map<CodeSpace, SpaceCounts>& spaces, std::size_t events, Resolver& resolver);

}  // namespace pmusim::annotate

#endif
