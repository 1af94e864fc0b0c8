// SPDX-License-Identifier: MIT
#include "perfdata/member_counts.h"

#include <fmt/format.h>

#include <utility>

namespace pmusim::perfdata {

Result<std::vector<MemberCount>, Error> MemberCounts::take(const Reader& file, const SampleRecord& sample,
                                                           u64 offset) {
  std::vector<MemberCount> members;
  for (const ReadValue& read : sample.read) {
    const u64 counted = read.value - std::exchange(counts_[read.id], read.value);
    if (counted == 0) continue;
    const EventDescription* const event = file.event_with(read.id);
    if (event == nullptr)
      return Failure(
          Error(fmt::format("at offset {:#x}: a count of no event of this file, id {}", offset, read.id)));
    members.push_back({event, read.id, counted});
  }
  return members;
}

}  // namespace pmusim::perfdata
