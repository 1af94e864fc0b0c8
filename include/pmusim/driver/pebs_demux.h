#ifndef PMUSIM_DRIVER_PEBS_DEMUX_H
#define PMUSIM_DRIVER_PEBS_DEMUX_H

#include <array>

#include "pmusim/base/types.h"

namespace pmusim::driver {

/// Counter slots that records can name: GP n is n, fixed m is 32 + m.
inline constexpr unsigned pebs_counters = 48;

/// Order in which samples of different events leave one drain of formats 4 to 6.
enum class DrainOrder : u8 {
  grouped,  ///< event after event, as Linux up to 6.13
  record,   ///< as the records lie in the buffer, the last of each event at the end: Linux since 6.14
};

/// What became of the records of a buffer, or of many: every record is in exactly one of `attributed`,
/// `collided`, `unowned`, `odd_size` or `headless`.
struct DemuxTotals {
  u64 records = 0;         ///< whole records found
  u64 attributed = 0;      ///< led to at least one sample
  u64 collided = 0;        ///< formats 1-2: several counters claim it; each got one lost sample
  u64 unowned = 0;         ///< no enabled counter claims it
  u64 odd_size = 0;        ///< formats 4-6: another configuration's layout
  u64 headless = 0;        ///< arch-PEBS: fragments without a record's head
  u64 trailing_bytes = 0;  ///< after the last whole record
  std::array<u64, pebs_counters> samples{};  ///< per counter; a shared record counts for each of its owners
  std::array<u64, pebs_counters> lost{};     ///< per counter, collisions it was part of
};

}  // namespace pmusim::driver

#endif
