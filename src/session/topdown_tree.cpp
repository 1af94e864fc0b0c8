// SPDX-License-Identifier: MIT
#include "session/topdown_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arch/perf_metrics.h"
#include "cpu/clocks.h"
#include "session/countable_events.h"
#include "session/metric_thresholds.h"
#include "session/perf_time.h"
#include "session/traced.h"

namespace pmusim {
namespace {

std::string level_group(unsigned level) { return fmt::format("TopdownL{}", level); }

/// The byte of PERF_METRICS that a pseudo event reads.
std::optional<unsigned> metric_byte(const EventDefinition& definition) {
  constexpr u16 first = 0x80;
  if (definition.event != 0 || definition.umask < first) return std::nullopt;
  return definition.umask - first;
}

TopdownTree::Event event_of(const events::ParsedEvent& parsed, const CpuModel& model,
                            const events::Traced& traced) {
  TopdownTree::Event event{.parsed = parsed, .sum = {}};
  if (!events::is_pmu_event(parsed.attr)) {
    event.is_time = true;
    return event;
  }
  const auto resolved = events::resolve(model, parsed.attr, traced);
  if (!resolved.ok()) {
    event.not_counted = resolved.error().message;
    return event;
  }
  event.metric = metric_byte(resolved->definition);
  if (auto sum = events::sum_up(model, *resolved))
    event.sum = std::move(*sum);
  else
    event.not_counted = fmt::format("sums over instructions do not tell {}", parsed.name);
  return event;
}

/// Nodes that the method has below those that are counted, and the model has events for but cannot count.
std::vector<std::pair<const Metric*, std::string>> nodes_not_counted(
    const std::vector<const Metric*>& counted, const CpuModel& model, unsigned level) {
  const auto is_counted = [&](std::string_view name) {
    return std::ranges::find(counted, name, &Metric::name) != counted.end();
  };
  std::vector<std::pair<const Metric*, std::string>> nodes;
  CountableEvents countable(model);
  for (const Metric& metric : metrics()) {
    if (metric.level < 2 || metric.level > level || !is_counted(metric.parent) || is_counted(metric.name))
      continue;
    const auto known =
        std::ranges::find(nodes, metric.name, [](const auto& node) { return node.first->name; });
    if (known != nodes.end()) continue;
    if (std::string refusal = countable.refusal_of(metric); !refusal.empty())
      nodes.emplace_back(&metric, std::move(refusal));
  }
  return nodes;
}

using Metrics = std::vector<const Metric*>;

/// `metric` and what is below it, in the order of `all`.
void append_branch(const Metric* metric, const Metrics& all, Metrics& to) {
  to.push_back(metric);
  for (const Metric* const child : all)
    if (child->level > 1 && child->parent == metric->name) append_branch(child, all, to);
}

Metrics depth_first(const Metrics& all) {
  Metrics ordered;
  for (const Metric* const metric : all) {
    const bool has_parent =
        metric->level > 1 && std::ranges::find(all, metric->parent, &Metric::name) != all.end();
    if (!has_parent) append_branch(metric, all, ordered);
  }
  return ordered;
}

}  // namespace

Result<Metrics, Error> topdown_metrics(const CpuModel& model, unsigned level) {
  Metrics all;
  for (unsigned each = 1; each <= level; ++each) {
    auto found = find_metrics(level_group(each), model);
    if (!found.ok() && each > 1)
      return Failure(Error(fmt::format("{} counts level {} only", model.title, each - 1)));
    if (!found.ok()) return found;
    all.insert(all.end(), found->begin(), found->end());
  }
  return all;
}

Result<TopdownTree, Error> TopdownTree::create(const CpuModel& model, unsigned level,
                                               const trace::Contents& contents) {
  const auto metrics = topdown_metrics(model, level);
  if (!metrics.ok()) return Failure(metrics.error());
  TopdownTree tree(model, level);
  tree.add_events(*metrics, contents);
  tree.add_nodes(*metrics);
  return tree;
}

void TopdownTree::add_events(const Metrics& metrics, const trace::Contents& contents) {
  const auto groups = events::parse_events(metric_events(metrics, model_), model_);
  if (!groups.ok()) return;  // metrics are those whose events the model has
  const events::Traced known = traced(contents, CoreLevel::interval);
  for (const events::EventGroup& group : *groups)
    for (const events::ParsedEvent& parsed : group.events) events_.push_back(event_of(parsed, model_, known));
}

void TopdownTree::add_nodes(const Metrics& metrics) {
  Metrics all = metrics;
  const auto not_counted = nodes_not_counted(metrics, model_, level_);
  for (const auto& [metric, why] : not_counted) all.push_back(metric);
  CountableEvents countable(model_);
  for (const Metric* const metric : depth_first(all)) {
    Node node{.metric = metric};
    for (const std::string_view name : countable.of(*metric).value_or(CountableEvents::Names()))
      for (u32 n = 0; n < events_.size(); ++n)
        if (events_[n].parsed.name == name) {
          node.events.push_back(n);
          if (node.not_counted.empty()) node.not_counted = events_[n].not_counted;
        }
    const auto refused = std::ranges::find(not_counted, metric, [](const auto& each) { return each.first; });
    if (refused != not_counted.end()) node.not_counted = refused->second;
    nodes_.push_back(std::move(node));
  }
}

u64 TopdownTree::ns_of(u64 cycles) const {
  return clock_of(model_.core)(tsc_clock(model_.core).ticks(cycles));
}

std::vector<EventTotal> TopdownTree::totals_of_part(std::span<const u64> occurrences, u64 cycles) const {
  std::vector<EventTotal> totals;
  for (std::size_t n = 0; n < events_.size(); ++n) {
    const Event& event = events_[n];
    EventTotal& total = totals.emplace_back();
    total.name = event.parsed.name;
    total.scale = event.parsed.scale;
    total.supported = event.not_counted.empty();
    if (!total.supported) continue;
    total.counted = event.is_time ? ns_of(cycles) : occurrences[n];
    total.enabled_ns = total.running_ns = std::max<u64>(ns_of(cycles), 1);
  }
  return totals;
}

// As hardware shows them: rounded, and back-end bound is what the others leave (SDM vol. 3, PERF_METRICS).
std::vector<EventTotal> TopdownTree::totals_of_whole(std::span<const u64> occurrences, u64 cycles) const {
  constexpr u64 whole = 0xFF;
  constexpr unsigned backend = 3;
  std::vector<EventTotal> totals = totals_of_part(occurrences, cycles);
  const u64 slots = cycles * model_.core.issue_width;
  if (slots == 0) return totals;
  std::array<u64, 8> bytes{};
  for (std::size_t n = 0; n < events_.size(); ++n)
    if (const auto byte = events_[n].metric)
      bytes[*byte] = std::min(whole, (std::min(occurrences[n], slots) * whole + slots / 2) / slots);
  bytes[backend] = whole - std::min(whole, bytes[0] + bytes[1] + bytes[2]);
  u64 metrics = 0;
  for (unsigned n = 0; n < bytes.size(); ++n) metrics |= bytes[n] << (8 * n);
  for (std::size_t n = 0; n < events_.size(); ++n)
    if (const auto byte = events_[n].metric) totals[n].counted = metric_slots(slots, metrics, *byte);
  return totals;
}

std::vector<TopdownTree::Value> TopdownTree::values(const std::vector<EventTotal>& totals) const {
  std::vector<Value> values;
  for (const Node& node : nodes_) {
    Value value;
    if (node.not_counted.empty()) value.percent = metric_value(*node.metric, totals, model_);
    if (value.percent) value.stands_out = stands_out(*node.metric, *value.percent, totals, model_);
    values.push_back(value);
  }
  return values;
}

}  // namespace pmusim
