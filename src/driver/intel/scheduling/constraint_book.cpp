// SPDX-License-Identifier: MIT
#include "driver/intel/scheduling/constraint_book.h"

#include <span>

#include "driver/intel/cores/core_traits.h"

namespace pmusim::driver {
namespace {

constexpr u64 gp0 = bit(0), gp01 = 0x3, gp2 = bit(2), gp1_7 = 0xFE, fixed0 = bit(counter::FIXED);
constexpr unsigned distribution = 3;  // precise_ip that asks for PDIR / PDIST

bool is_instructions(u64 config) { return (config & rows::whole_event) == 0xC0; }

/// `counters` where the constraint allows them at all, else none.
Constraint only(Constraint constraint, u64 counters) {
  constraint.counters &= counters;
  return constraint;
}

Constraint on(Constraint constraint, u64 counters) {
  constraint.counters = counters;
  return constraint;
}

/// The counter that can roll back is GP 2.
Constraint haswell_rule(const EventTraits& event, Constraint c) {
  return (event.config & msr::evtsel::IN_TXCP) != 0 ? only(c, gp2) : c;
}

Constraint golden_cove_rule(const EventTraits& event, Constraint c) {
  c = haswell_rule(event, c);
  if (event.precise != distribution) return c;
  return is_instructions(event.config) ? on(c, fixed0) : only(c, gp0);
}

Constraint redwood_cove_rule(const EventTraits& event, Constraint c) {
  // Fixed counter 0 has no retire latency, GP 0 does not count instructions precisely.
  if (is_instructions(event.config) && event.precise != 0 && event.retire_latency)
    return event.precise == distribution ? on(c, 0) : on(c, gp1_7);
  return golden_cove_rule(event, c);
}

Constraint crestmont_rule(const EventTraits& event, Constraint c) {
  if (event.precise != distribution) return c;
  if (!is_instructions(event.config)) return only(c, gp01);
  return on(c, event.branch_counters ? gp01 : fixed0 | gp01);
}

/// Whether some event select with this event code matches. True for more than that where several bit fields
/// are compared with a range.
bool may_match(const Constraint& c, u64 event) {
  if ((c.mask & msr::evtsel::EVENT) != msr::evtsel::EVENT) return true;
  if (c.size == 0) return event == (c.code & msr::evtsel::EVENT);
  return c.mask != msr::evtsel::EVENT || c.matches(event);
}

}  // namespace

void ConstraintBook::Table::index() {
  u64 event = 0;
  for (u16& end : std::span(begin_).subspan(1)) {
    for (std::size_t n = 0; n < rows_.size(); ++n)
      if (may_match(rows_[n].constraint, event)) candidates_.push_back(static_cast<u16>(n));
    end = static_cast<u16>(candidates_.size());
    ++event;
  }
}

const ConstraintBook::Row* ConstraintBook::Table::find(u64 config) const {
  const u64 event = config & msr::evtsel::EVENT;
  for (unsigned at = begin_[event]; at < begin_[event + 1]; ++at) {
    const Row& row = rows_[candidates_[at]];
    if (row.constraint.matches(config)) return &row;
  }
  return nullptr;
}

// A sixteenth fixed counter would have the number that means the branch trace.
ConstraintBook::ConstraintBook(const Enumeration& enumeration)
    : counters_(enumeration.counters & ~bit(counter::BRANCH_TRACE)) {
  const CoreTraits traits = core_traits(enumeration);
  pebs_on_all_ = traits.pebs_on_all_counters;
  rule_ = traits.placement;
  if ((enumeration.perf_capabilities & msr::perf_cap::PERF_METRICS) != 0 &&
      (counters_ & bit(counter::SLOTS)) != 0)
    counters_ |= counter::METRIC_BITS;
  const auto take = [this](Table& to, std::span<const ConstraintRow> from) {
    for (const ConstraintRow& row : from) {
      Constraint c = row.constraint;
      const bool on_fixed = (c.counters & ~counter::GP_BITS) != 0;
      c.counters &= counters_;
      if (on_fixed && &to == &main_ && (c.code & msr::evtsel::EVENT) != 0)
        c.counters |= counters_ & counter::GP_BITS;
      to.add({c, row.exclusive});
    }
  };
  take(main_, traits.constraints.fixed);
  take(main_, traits.constraints.main);
  take(pebs_, traits.constraints.pebs);
  main_.index();
  pebs_.index();
}

Constraint ConstraintBook::from_tables(const EventTraits& event) const {
  if (event.precise != 0) {
    if (const Row* row = pebs_.find(event.config)) return row->constraint;
    if (!pebs_on_all_) return {};
  }
  if (const Row* row = main_.find(event.config)) return row->constraint;
  Constraint any_general;
  any_general.counters = counters_ & counter::GP_BITS;
  return any_general;
}

Constraint ConstraintBook::apply_placement_rule(const EventTraits& event, Constraint c) const {
  switch (rule_) {
    case PlacementRule::none:
      return c;
    case PlacementRule::haswell:
      return haswell_rule(event, c);
    case PlacementRule::ice_lake:
      if (event.precise == distribution && is_instructions(event.config)) return on(c, fixed0);
      return haswell_rule(event, c);
    case PlacementRule::golden_cove:
      return golden_cove_rule(event, c);
    case PlacementRule::redwood_cove:
      return redwood_cove_rule(event, c);
    case PlacementRule::goldmont_plus:
      return event.precise == distribution ? on(c, gp0) : c;
    case PlacementRule::tremont:
      if (event.precise != distribution) return c;
      return on(c, is_instructions(event.config) ? fixed0 | gp0 : gp0);
    case PlacementRule::crestmont:
      return crestmont_rule(event, c);
  }
  return c;
}

Constraint ConstraintBook::find(const EventTraits& event) const {
  return only(apply_placement_rule(event, from_tables(event)), counters_);
}

bool ConstraintBook::exclusive(const EventTraits& event) const {
  const Row* row = (event.precise != 0 ? pebs_ : main_).find(event.config);
  return row != nullptr && row->exclusive;
}

}  // namespace pmusim::driver
