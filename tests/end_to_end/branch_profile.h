// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_END_TO_END_BRANCH_PROFILE_H
#define PMUSIM_TESTS_END_TO_END_BRANCH_PROFILE_H

#include <string>
#include <vector>

#include "pmusim/cpu/retirement.h"
#include "pmusim/perf/abi.h"

namespace pmusim::test {

/// One branch instruction that a trace executed, as the core of a CPU model retires it.
struct ExecutedBranch {
  u64 ip = 0, next_ip = 0;
  BranchKind kind = BranchKind::none;
  bool taken = false, mispredicted = false;
  Cpl cpl_after = Cpl::user;
};

/// Every branch of a trace, in order, with the outcomes of `model`'s branch predictor.
std::vector<ExecutedBranch> executed_branches(const std::string& trace_path, const std::string& model);

struct BranchSample {
  u64 ip = 0;
  std::vector<perf::BranchEntry> branches;  ///< newest first
  std::vector<u64> counters;                ///< a word for each branch if the event has COUNTERS
};

/// The samples of an uncompressed perf.data with one event, in the order of the file. Reads the bytes itself:
/// the writer under test has no part in it.
std::vector<BranchSample> branch_samples(const std::string& path);

/// What `pmusim record` with `options` samples of a trace. Throws if it fails.
std::vector<BranchSample> record_branches(const std::string& trace, const std::vector<std::string>& options);

}  // namespace pmusim::test

#endif
