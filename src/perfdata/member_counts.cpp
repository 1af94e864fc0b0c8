// SPDX-License-Identifier: MIT
#include "perfdata/member_counts.h"

#include <utility>

namespace pmusim::perfdata {

std::vector<MemberCount> MemberCounts::take(const Reader& file, const SampleRecord& sample) {
  std::vector<MemberCount> members;
  for (const ReadValue& read : sample.read) {
    const u64 counted = read.value - std::exchange(counts_[read.id], read.value);
    if (counted != 0) members.push_back({file.event_with(read.id), read.id, counted});
  }
  return members;
}

}  // namespace pmusim::perfdata
