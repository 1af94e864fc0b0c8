// SPDX-License-Identifier: MIT
#include "driver/scheduling/constraint_book.h"

#include <algorithm>

#include "driver/cores/core_traits.h"

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

}  // namespace

// A sixteenth fixed counter would have the number that means the branch trace.
ConstraintBook::ConstraintBook(const Enumeration& enumeration)
    : counters_(enumeration.counters & ~bit(counter::BRANCH_TRACE)) {
  const CoreTraits traits = core_traits(enumeration);
  pebs_on_all_ = traits.pebs_on_all_counters;
  rule_ = traits.placement;
  if ((enumeration.perf_capabilities & msr::perf_cap::PERF_METRICS) != 0 &&
      (counters_ & bit(counter::SLOTS)) != 0)
    counters_ |= counter::METRIC_BITS;
  const auto take = [this](std::vector<Row>& to, std::span<const ConstraintRow> from) {
    for (const ConstraintRow& row : from) {
      Constraint c = row.constraint;
      const bool on_fixed = (c.counters & ~counter::GP_BITS) != 0;
      c.counters &= counters_;
      if (on_fixed && &to == &main_ && (c.code & msr::evtsel::EVENT) != 0)
        c.counters |= counters_ & counter::GP_BITS;
      to.push_back({c, row.exclusive});
    }
  };
  take(main_, traits.constraints.fixed);
  take(main_, traits.constraints.main);
  take(pebs_, traits.constraints.pebs);
}

Constraint ConstraintBook::from_tables(const EventTraits& event) const {
  const auto match = [&](const std::vector<Row>& rows) {
    return std::ranges::find_if(rows, [&](const Row& row) { return row.constraint.matches(event.config); });
  };
  if (event.precise != 0) {
    if (const auto row = match(pebs_); row != pebs_.end()) return row->constraint;
    if (!pebs_on_all_) return {};
  }
  if (const auto row = match(main_); row != main_.end()) return row->constraint;
  return {.counters = counters_ & counter::GP_BITS, .code = 0, .mask = 0, .size = 0, .overlap = false};
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
  const std::vector<Row>& rows = event.precise != 0 ? pebs_ : main_;
  const auto row =
      std::ranges::find_if(rows, [&](const Row& r) { return r.constraint.matches(event.config); });
  return row != rows.end() && row->exclusive;
}

}  // namespace pmusim::driver
