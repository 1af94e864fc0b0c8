// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_PROCESS_MAPS_H
#define PMUSIM_TRACE_PROCESS_MAPS_H

#include <string_view>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// The mappings that a trace keeps, from the text of /proc/PID/maps: files, named areas, executable memory.
/// Without build ids. What is no such line is left out.
std::vector<Mapping> parse_maps(std::string_view text);

/// Whether a system call (SYS_*) may change them.
bool changes_maps(u64 call);

/// What turns `before` into `after`, both sorted by address: unmaps first.
struct MapChanges {
  std::vector<Mapping> removed, added;
  bool code_changed() const;  ///< executable memory is among them
};
MapChanges compare_maps(const std::vector<Mapping>& before, const std::vector<Mapping>& after);

}  // namespace pmusim::trace

#endif
