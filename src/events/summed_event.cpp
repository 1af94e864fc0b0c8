// SPDX-License-Identifier: MIT
#include "events/summed_event.h"

#include "cpu/cycle_views.h"
#include "cpu/front_end.h"
#include "cpu/quantity_terms.h"

namespace pmusim::events {
namespace {

/// Cycles with as much in them as the condition asks for, and those without if it asks for that.
std::vector<SummedEvent::Term> terms_of_cycles(const EventRule& rule, const CycleCondition& condition) {
  const auto satisfied = [&](unsigned occurrences) {
    return (occurrences >= condition.cmask) != condition.inv;
  };
  std::vector<SummedEvent::Term> terms;
  for_alike_cycles(rule, satisfied(rule.per_cycle), satisfied(0), [&](Quantity quantity, u64 factor) {
    terms.push_back({quantity, factor});
  });
  return terms;
}

std::vector<SummedEvent::Term> terms_of(const EventRule& rule, unsigned issue_width) {
  if (rule.quantity == Quantity::slots) return {{Quantity::cycles, issue_width}};
  std::vector<SummedEvent::Term> terms;
  for_occurrences(rule, rule.per_cycle, [&](Quantity quantity, u64 factor) {
    terms.push_back({quantity, factor});
  });
  return terms;
}

/// Whether occurrences depend on more of an instruction than its signals and quantities.
bool compares_each(const CpuModel& model, const ResolvedEvent& event) {
  const EventRule& rule = event.definition.rule;
  const bool slow_fetches =
      front_end::is_filtered(model, event.definition.event) && front_end::selects_latency(event.extra);
  return slow_fetches || event.in_transactions || rule.all.has(Signal::load_latency) ||
         (rule.quantity != Quantity::none && !rule.any.empty());
}

/// EDGE with a CMASK of 1: times that something begins.
std::optional<SummedEvent> beginnings(const EventRule& rule) {
  using enum SummedEvent::By;
  if (rule == EventRule{.quantity = Quantity::recovery_cycles}) return SummedEvent{.by = refills};
  // Those are the uops of microcoded instructions.
  if (rule == EventRule{.quantity = Quantity::slots_heavy})
    return SummedEvent{.by = cycles, .rule = {.all = {Signal::microcoded}}};
  const bool by_cycles = rule.quantity == Quantity::none && !rule.all.empty() && rule.any.empty() &&
                         rule.none.empty() && signals_of_cycles.contains(rule.all);
  return by_cycles ? std::optional(SummedEvent{.by = cycles, .rule = rule}) : std::nullopt;
}

}  // namespace

std::optional<SummedEvent> sum_up(const CpuModel& model, const ResolvedEvent& event) {
  using enum SummedEvent::By;
  if (compares_each(model, event)) return std::nullopt;
  EventRule rule = event.definition.rule;
  CycleCondition condition = cycle_condition(event.config, model.core.issue_width);
  if (const auto alike = cycles_with(rule, condition)) {
    rule = *alike;
    condition = {};
  }
  if (condition.edge && condition.cmask == 1 && !condition.inv) return beginnings(rule);
  const bool compares = condition.cmask != 0 || condition.edge;
  if (rule.quantity == Quantity::reference_cycles) return std::nullopt;
  if (compares && (condition.edge || !has_alike_cycles(rule.quantity))) return std::nullopt;
  if (rule.quantity == Quantity::none) return SummedEvent{.by = signals, .rule = rule};
  return SummedEvent{
      .by = quantities,
      .terms = compares ? terms_of_cycles(rule, condition) : terms_of(rule, model.core.issue_width)};
}

}  // namespace pmusim::events
