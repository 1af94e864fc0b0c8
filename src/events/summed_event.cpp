// SPDX-License-Identifier: MIT
#include "events/summed_event.h"

#include "cpu/cycle_views.h"
#include "cpu/front_end.h"
#include "cpu/quantity_set.h"
#include "pmusim/arch/msr.h"

namespace pmusim::events {
namespace {

CycleCondition condition_of(const CpuModel& model, u64 config) {
  using namespace msr;
  return {.cmask = static_cast<unsigned>(field(config, 31, 24)),
          .inv = (config & evtsel::INV) != 0,
          .edge = (config & evtsel::EDGE) != 0,
          .issue_width = model.core.issue_width};
}

class Terms {
 public:
  void add(Quantity quantity, u64 factor) {
    if (quantity != Quantity::none) all_.push_back({quantity, factor});
  }
  /// The quantity of a rule without the part that it leaves out.
  void add_remainder(const EventRule& rule, u64 factor) {
    add(rule.quantity, factor);
    add(rule.minus, u64{0} - factor);
  }
  std::vector<SummedEvent::Term> take() { return std::move(all_); }

 private:
  std::vector<SummedEvent::Term> all_;
};

/// Each cycle that a retirement tells of is one of those since the retirement before, and these are alike.
bool has_alike_cycles(const EventRule& rule, const CycleCondition& condition) {
  constexpr QuantitySet alike = QuantitySet::range(Quantity::stall_cycles, Quantity::recovery_cycles) |
                                QuantitySet{Quantity::starved_cycles};
  return !condition.edge && condition.cmask != 0 && alike.has(rule.quantity);
}

/// Cycles with as much in them as the condition asks for, and those without if it asks for that.
std::vector<SummedEvent::Term> terms_of_cycles(const EventRule& rule, const CycleCondition& condition) {
  const auto satisfied = [&](unsigned occurrences) {
    return (occurrences >= condition.cmask) != condition.inv;
  };
  Terms terms;
  if (satisfied(rule.per_cycle)) terms.add_remainder(rule, 1);
  if (satisfied(0)) {
    terms.add(Quantity::cycles, 1);
    terms.add_remainder(rule, ~u64{0});
  }
  return terms.take();
}

std::vector<SummedEvent::Term> terms_of(const EventRule& rule, unsigned issue_width) {
  Terms terms;
  if (rule.quantity == Quantity::slots) {
    terms.add(Quantity::cycles, issue_width);
    return terms.take();
  }
  terms.add_remainder(rule, rule.per_cycle);
  for (const Quantity more : rule.plus) terms.add(more, rule.per_cycle);
  return terms.take();
}

/// Whether occurrences depend on more of an instruction than its signals and quantities.
bool compares_each(const CpuModel& model, const ResolvedEvent& event) {
  const EventRule& rule = event.definition.rule;
  const bool slow_fetches = model.pebs.frontend && event.definition.event == front_end::retired_event &&
                            front_end::selects_latency(event.extra);
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
  CycleCondition condition = condition_of(model, event.config);
  if (const auto alike = cycles_with(rule, condition)) {
    rule = *alike;
    condition = {};
  }
  if (condition.edge && condition.cmask == 1 && !condition.inv) return beginnings(rule);
  const bool compares = condition.cmask != 0 || condition.edge;
  if (rule.quantity == Quantity::reference_cycles) return std::nullopt;
  if (compares && !has_alike_cycles(rule, condition)) return std::nullopt;
  if (rule.quantity == Quantity::none) return SummedEvent{.by = signals, .rule = rule};
  return SummedEvent{
      .by = quantities,
      .terms = compares ? terms_of_cycles(rule, condition) : terms_of(rule, model.core.issue_width)};
}

}  // namespace pmusim::events
