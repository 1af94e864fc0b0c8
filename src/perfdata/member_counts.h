// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PERFDATA_MEMBER_COUNTS_H
#define PMUSIM_PERFDATA_MEMBER_COUNTS_H

#include <unordered_map>
#include <vector>

#include "pmusim/perfdata/reader.h"

namespace pmusim::perfdata {

/// Whether samples of the event have counts of events that their ids name: those of `{a,b}:S`, whose leader
/// samples for all members.
inline bool has_member_counts(const perf::Attr& attr) {
  return (attr.sample_type & perf::sample::READ) != 0 && (attr.read_format & perf::read_format::ID) != 0;
}

/// What an event has counted since the sample before.
struct MemberCount {
  const EventDescription* event = nullptr;  ///< null: no event of the file has the id
  u64 id = 0, counted = 0;
};

/// Follows the counts of a file's samples. perf makes a sample of each event that has counted, with that for
/// its period. Samples of one id come in the order of their times, as each has one ring.
class MemberCounts {
 public:
  /// The events of `file` that have counted.
  std::vector<MemberCount> take(const Reader& file, const SampleRecord& sample);

 private:
  std::unordered_map<u64, u64> counts_;  // as a sample had them last, by id
};

}  // namespace pmusim::perfdata

#endif
