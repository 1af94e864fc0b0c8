// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_END_TO_END_GROUP_SAMPLES_H
#define PMUSIM_TESTS_END_TO_END_GROUP_SAMPLES_H

#include <string>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::test {

/// One sample of an event group with PERF_SAMPLE_READ.
struct GroupSample {
  u64 ip = 0;
  std::vector<u64> values;  ///< of leader and members, in the order of the group
};

/// The group samples of an uncompressed perf.data, in the order of the file. Reads the bytes itself: the
/// writer under test has no part in it.
std::vector<GroupSample> group_samples(const std::string& path);

}  // namespace pmusim::test

#endif
