// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SAMPLES_RECORDED_COUNTS_H
#define PMUSIM_SRC_DRIVER_INTEL_SAMPLES_RECORDED_COUNTS_H

#include <optional>

#include "driver/intel/debug_store/pebs.h"
#include "driver/x86/linux_changes.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

/// The counters group of one record.
struct RecordedValues {
  bool present = false;
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
/// Before Linux 7.3 a drain first takes the counts of all its records, in the order in which hardware wrote
/// them: samples may leave the drain in another order, and each of them shall read what was counted at its
/// own record. Linux 7.3 takes them as the samples leave, and only those of a group's own: the last record of
/// each counter comes behind later ones of others, and a counter that lies behind what was seen of it has
/// gone round.
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
        by_samples_(perf::has(enumeration.kernel, change::snapshots_as_in_7_3)) {}

  /// A drain begins. Its events stay the owners until it ends. `enabled`: counters with PEBS.
  void take(std::span<const std::byte> buffer, u64 enabled, Owners owners);
  /// Whether what `event` counts comes from its group's samples alone.
  bool taken_by_samples(const perf::Event& event) const { return by_samples_ && counts_from_records(event); }
  /// What had been counted at a record of the buffer, whole groups, for the next sample of `event`. Empty if
  /// nothing is stored. Valid until the next call.
  std::span<const perf::CountAtSample> at_sample(perf::Event& event, std::span<const std::byte> record);
  /// The same where all records have been taken.
  std::span<const perf::CountAtSample> at(std::span<const std::byte> record) const;

 private:
  template <class Visit>
  void for_each_value(const RecordedValues& values, Owners owners, Visit visit);
  void find_members(Owners owners);
  void count(const RecordedValues& values, u64 reloaded, Owners owners);
  void count_sample(perf::Event& event, const RecordedValues& values);
  void count_topdown(TopdownReading now);
  void remember(const std::byte* record, const RecordedValues& values);

  unsigned format_, width_;
  u32 lbr_depth_;
  bool by_samples_;
  std::optional<Owners> owners_{};
  std::vector<perf::Event*> members_;        // of all groups concerned
  std::vector<const std::byte*> records_;    // ascending
  std::vector<perf::CountAtSample> counts_;  // as many per record as there are members
};

}  // namespace pmusim::driver

#endif
