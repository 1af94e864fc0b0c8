// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SCHEDULING_CONSTRAINT_BOOK_H
#define PMUSIM_SRC_DRIVER_INTEL_SCHEDULING_CONSTRAINT_BOOK_H

#include <array>
#include <vector>

#include "driver/intel/enumeration.h"
#include "driver/x86/constraint.h"

namespace pmusim::driver {

enum class PlacementRule : u8;

/// What of an event decides where it may be counted.
struct EventTraits {
  u64 config = 0;  ///< event select
  unsigned precise = 0;
  bool retire_latency = false;  ///< samples carry a weight, and with it the retire latency
  bool branch_counters = false;
};

/// The event constraints of one core, cut to the counters that it has.
///
/// A fixed-counter event whose code exists on general counters too (event code not 0) may use any of those as
/// well; pseudo events (code 0) live on their fixed counter alone.
class ConstraintBook {
 public:
  explicit ConstraintBook(const Enumeration& enumeration);

  /// Empty counters: the event cannot be scheduled on this core.
  Constraint find(const EventTraits& event) const;
  /// Haswell and before: the event corrupts the counter of the same number of the sibling thread.
  bool exclusive(const EventTraits& event) const;

 private:
  static constexpr unsigned event_codes = 256;
  struct Row {
    Constraint constraint;
    bool exclusive;
  };
  /// Rows in their order, and for each event code those that may match it.
  class Table {
   public:
    void add(const Row& row) { rows_.push_back(row); }
    /// Call it when all rows are in.
    void index();
    /// The first row that matches; null where none does.
    const Row* find(u64 config) const;

   private:
    std::vector<Row> rows_;
    std::vector<u16> candidates_;               // numbers of rows, by event code
    std::array<u16, event_codes + 1> begin_{};  // of each code's candidates
  };
  Constraint from_tables(const EventTraits& event) const;
  Constraint apply_placement_rule(const EventTraits& event, Constraint constraint) const;

  u64 counters_;
  bool pebs_on_all_;
  PlacementRule rule_;
  Table main_, pebs_;
};

}  // namespace pmusim::driver

#endif
