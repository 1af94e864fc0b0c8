// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SAMPLES_RECORDED_COUNTS_H
#define PMUSIM_SRC_DRIVER_INTEL_SAMPLES_RECORDED_COUNTS_H

#include "driver/intel/debug_store/pebs.h"
#include "driver/x86/linux_changes.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

/// The counters group of one record.
struct RecordedValues {
  u64 counters = 0;                   ///< whose values follow, GP n at n, fixed m at 32 + m
  std::span<const std::byte> values;  ///< 8 bytes each, ascending
  bool has_metrics = false;
  u64 slots = 0, metrics = 0;
};

/// Finds the counters group in a record of formats 4 to 6 or architectural PEBS, whichever fragment it is in.
/// Empty where there is none, or where the record is too short for what it announces.
RecordedValues recorded_values(std::span<const std::byte> record, unsigned format, u32 lbr_depth);

/// The counts of groups whose counters are stored in records (docs/pebs.md, "Counts from records").
///
/// A drain first takes the counts of all its records, in the order in which hardware wrote them: samples may
/// leave the drain in another order, and each of them shall read what was counted at its own record.
class RecordedCounts {
 public:
  /// The events of a drain: who owns which counter, and which byte of PERF_METRICS.
  struct Owners {
    const EventMap& counters;
    std::span<perf::Event* const> metrics;
  };

  explicit RecordedCounts(const Enumeration& enumeration)
      : format_(enumeration.pebs_format),
        width_(enumeration.counter_width),
        lbr_depth_(enumeration.lbr_entries),
        steps_back_(!perf::has(enumeration.kernel, change::snapshots_as_in_7_3)) {}

  /// Brings the counts of all such groups up to the last record of `buffer`. `enabled`: counters with PEBS.
  void take(std::span<const std::byte> buffer, u64 enabled, Owners owners);

  /// What had been counted at a record of the buffer taken last, whole groups. Empty if nothing is stored.
  std::span<const perf::CountAtSample> at(std::span<const std::byte> record) const;

 private:
  bool takes_from(u64 record_owners, Owners owners) const;
  void find_members(Owners owners);
  void count(const RecordedValues& values, u64 reloaded, Owners owners);
  void remember(const std::byte* record, const RecordedValues& values);

  unsigned format_, width_;
  u32 lbr_depth_;
  bool steps_back_;
  std::vector<perf::Event*> members_;        // of all groups concerned
  std::vector<const std::byte*> records_;    // ascending
  std::vector<perf::CountAtSample> counts_;  // as many per record as there are members
};

}  // namespace pmusim::driver

#endif
