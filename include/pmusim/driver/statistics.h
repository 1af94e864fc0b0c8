// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_STATISTICS_H
#define PMUSIM_DRIVER_STATISTICS_H

#include <array>
#include <string>
#include <vector>

#include "pmusim/base/bits.h"

// What a driver met while it counted and sampled, what became of its PEBS records, and what the PMU refused
// it: nothing, unless one of them is wrong.

namespace pmusim::driver {

/// What a driver does through `Bus` that can fault.
enum class Access : u8 { rdmsr, wrmsr, rdpmc, read_memory, write_memory, xsaves, xrstors };

/// An access that faulted although enumeration promised that it would not.
struct AccessFault {
  Access access = Access::rdmsr;
  u64 address = 0;  ///< of the register or the memory; RDPMC: ECX
  u64 value = 0;    ///< written; the first eight bytes where it was memory; features of XSAVES. 0 for reads
};

/// Accesses that faulted, and the first of them.
struct AccessFaults {
  u64 count = 0;
  AccessFault first;  ///< meaningless while there is none
};

/// "2 of the driver's accesses to the PMU faulted, ...": a sentence with the first of them; empty for none.
std::string describe(const AccessFaults& faults);

/// What happened that no perf event can tell.
struct DriverStatistics {
  u64 interrupts = 0;  ///< PMIs taken
  /// With nothing to handle, and no interrupt before them that handled two: "unknown NMI".
  u64 unhandled_interrupts = 0;
  u64 stuck_interrupts = 0;  ///< status would not clear: the PMU was reset
  /// Overflows that had no sample of their own: the counter went through whole periods between an overflow
  /// and the handling of its interrupt.
  u64 merged_overflows = 0;
  AccessFaults faults;  ///< of the driver's own accesses to registers and memory

  /// With those of another driver.
  DriverStatistics& operator+=(const DriverStatistics& other);
};

/// What makes counts and samples doubtful, a sentence each; empty where all went well.
std::vector<std::string> warnings(const DriverStatistics& statistics);

/// Counter slots that records can name: GP n is n, fixed m is 32 + m.
inline constexpr unsigned pebs_counters = 48;

/// What became of the records of one buffer, or of many. Every record is in exactly one of `attributed`,
/// `collided`, `unowned`, `odd_size` and `headless`.
struct DemuxTotals {
  u64 records = 0;         ///< whole records found
  u64 attributed = 0;      ///< led to at least one sample
  u64 collided = 0;        ///< formats 1-2: several counters claim it; each of them lost one sample
  u64 unowned = 0;         ///< no enabled counter claims it
  u64 odd_size = 0;        ///< formats 4-6: has another configuration's size
  u64 headless = 0;        ///< arch-PEBS: fragments of which the head is missing
  u64 shared = 0;          ///< format 3 on, among `attributed`: serve several counters
  u64 rescued = 0;         ///< formats 1-2, among `attributed`: status was 0, one event is enabled
  u64 trailing_bytes = 0;  ///< after the last whole record
  std::array<u64, pebs_counters> samples{};  ///< per counter; a shared record counts for each of its owners
  std::array<u64, pebs_counters> lost{};     ///< per counter, collisions it was part of

  u64 accounted() const { return attributed + collided + unowned + odd_size + headless; }
  DemuxTotals& operator+=(const DemuxTotals& other);
  friend bool operator==(const DemuxTotals&, const DemuxTotals&) = default;
};

}  // namespace pmusim::driver

#endif
