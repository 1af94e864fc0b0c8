// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_REGION_H
#define PMUSIM_TRACE_REGION_H

#include <string>

#include "pmusim/base/types.h"

namespace pmusim::trace {

/// Which part of a program's run is recorded. It begins when each thing that is asked for has happened, in
/// the order in which they stand here, and ends with the first thing that ends it; the program then goes on
/// unrecorded. Nothing asked for: all of it.
struct Region {
  u64 delay_ms = 0;          ///< so long after its start, at native speed (single steps only)
  std::string start_symbol;  ///< a thread reaches this function of the program or of a library
  bool marks = false;        ///< a thread reaches a start mark; ends at a stop mark
  u64 skip = 0;              ///< instructions of all threads that are left out then

  u64 count = 0;            ///< ends after so many instructions, or at the end of the block that has the last
  std::string stop_symbol;  ///< ends where a thread reaches this function
  u64 max_bytes = 0;        ///< ends when the file has so many bytes (and a chunk at most)

  bool is_everything() const { return *this == Region{}; }
  friend bool operator==(const Region&, const Region&) = default;
};

}  // namespace pmusim::trace

#endif
