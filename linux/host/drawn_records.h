// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_DRAWN_RECORDS_H
#define PMUSIM_LINUX_HOST_DRAWN_RECORDS_H

#include <vector>

#include "host/drawn.h"
#include "pmusim/cpu/model.h"
#include "pmusim/perf/abi.h"

namespace pmusim::linux_driver {

struct DrawnEvent {
  perf::Attr attr;
};
/// One to six precise events of a core of that type. None is read from records: which counters those have is
/// for hardware to say.
std::vector<DrawnEvent> drawn_precise_events(Drawing& draw, CoreType type);

struct DrawnBuffer {
  std::vector<std::byte> bytes;
  u64 records = 0;
};
/// CFG_C's groups that records of these events have at least.
u64 asked_groups(const std::vector<DrawnEvent>& events);
/// Records of architectural PEBS with the groups `asked` and others, of all that Linux 7.3 programs (vector
/// groups: XMM), some in several fragments, some with several owners or none, and now and then a fragment
/// that begins no record. `tsc` ascends from record to record.
DrawnBuffer drawn_arch_records(Drawing& draw, u64 asked, u64 most_bytes, u64 most_records, u32 lbr_depth,
                               u64& tsc);

}  // namespace pmusim::linux_driver

#endif
