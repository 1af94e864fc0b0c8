// SPDX-License-Identifier: MIT
#ifndef PMUSIM_QEMU_GUEST_MAPS_H
#define PMUSIM_QEMU_GUEST_MAPS_H

#include <string_view>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::qemu {

/// The files and the executable memory that a guest process has mapped.
///
/// Built from the guest's own system calls: in the host's /proc/PID/maps guest code is not executable, and
/// neighbouring pieces of a file have run together. Each change returns the side-band records that tell a
/// trace.
class GuestMaps {
 public:
  /// A new program: `host_maps` has what qemu mapped for it, as /proc/PID/maps. Protections come from the
  /// files' program headers.
  std::vector<trace::SideBandRecord> start(u32 pid, std::string_view host_maps);
  std::vector<trace::SideBandRecord> map(u32 pid, trace::Mapping mapping);
  std::vector<trace::SideBandRecord> unmap(u32 pid, u64 start, u64 bytes);
  std::vector<trace::SideBandRecord> protect(u32 pid, u64 start, u64 bytes, u32 protection);

 private:
  std::vector<trace::Mapping> cut_out(u32 pid, u64 start, u64 bytes,
                                      std::vector<trace::SideBandRecord>& records);
  void add(u32 pid, const trace::Mapping& mapping, std::vector<trace::SideBandRecord>& records);

  std::vector<trace::Mapping> maps_;
};

}  // namespace pmusim::qemu

#endif
