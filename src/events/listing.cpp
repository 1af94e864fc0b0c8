// SPDX-License-Identifier: MIT
#include "events/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "cpu/core_facts.h"
#include "events/event_code.h"
#include "events/refusals.h"
#include "events/resolve.h"
#include "events/vendor.h"
#include "names.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/events/parser.h"

namespace pmusim::events {
namespace {

bool has_row(std::span<const PebsEvent> rows, const EventDefinition& definition) {
  return std::ranges::any_of(rows, [&](const PebsEvent& row) {
    return row.event == definition.event &&
           (row.umask == PebsEvent::any_umask || row.umask == definition.umask);
  });
}

/// A fixed counter's event as what its name resolves to.
EventDefinition on_its_code(const CpuModel& model, const EventDefinition& row, u64 config) {
  return selected_event(model, config, row.extra).value_or(row);
}

/// Why a replay cannot count the event, or nothing.
std::string refusal_of(const CpuModel& model, u64 config, u64 extra) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = config;
  attr.config1 = extra;
  const auto event = identify(model, attr);
  return event.ok() ? replay_refusal(model, *event).value_or("") : event.error().message;
}

/// The vendor's event that a name of perf's counts: by its name, or by its encoding where an off-core
/// register has a value that no name stands for.
std::string vendors_event(const CpuModel& model, const ResolvedEvent& resolved) {
  const auto named = parse_events(resolved.definition.name, model);
  if (!named.ok()) return perf_terms(resolved.config, resolved.extra, model.select);
  return std::string(resolved.definition.name);
}

std::vector<ListedEvent> perf_names(const CpuModel& model) {
  std::vector<ListedEvent> events;
  for (const std::string_view name : perf_event_names(model)) {
    const auto groups = parse_events(name, model);
    if (!groups.ok()) continue;
    const perf::Attr& attr = groups->front().events.front().attr;
    if (!is_pmu_event(attr)) continue;
    const auto resolved = identify(model, attr);
    if (!resolved.ok()) continue;
    ListedEvent event;
    event.name = name;
    event.counts = vendors_event(model, *resolved);
    event.refusal = replay_refusal(model, *resolved).value_or("");
    event.config = resolved->config;
    event.extra = resolved->extra;
    event.pebs = is_pebs_event(model, resolved->definition);
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace

bool is_pebs_event(const CpuModel& model, const EventDefinition& definition) {
  if (!pebs::is_known(model.pebs.format) || has_unreliable_pebs(model.family, model.model)) return false;
  const bool on_fixed_counters = (model.pebs.counters >> 32) != 0;
  if (definition.event == 0) return on_fixed_counters;
  if (model.pebs.baseline || on_fixed_counters) return true;
  const PebsEvents& events = core_facts(model.microarchitecture()).pebs_events;
  switch (events.kind) {
    case PebsEvents::Kind::none:
      return false;
    case PebsEvents::Kind::any:
      return true;
    case PebsEvents::Kind::of_instructions:
      return definition.rule.quantity == Quantity::none;
    case PebsEvents::Kind::listed:
      return has_row(events.listed, definition);
  }
  return false;
}

std::string perf_terms(u64 config, u64 extra, SelectLayout layout) {
  const EventCode code = event_code(layout, config);
  std::string terms = fmt::format("cpu/event={:#04x},umask={:#04x}", code.event, code.umask);
  if (const u64 cmask = config >> 24 & 0xFF; cmask != 0) terms += fmt::format(",cmask={}", cmask);
  if ((config & bit(23)) != 0) terms += ",inv";
  if ((config & bit(18)) != 0) terms += ",edge";
  if (extra != 0) terms += fmt::format(",config1={:#x}", extra);
  return terms + "/";
}

std::vector<ListedEvent> list_events(const CpuModel& model, Listed listed) {
  std::vector<ListedEvent> events = perf_names(model);
  std::set<std::pair<u64, u64>> modelled;
  std::set<std::string_view> names;
  for (const EventDefinition& row : model.events) {
    ListedEvent event;
    event.name = row.name;
    event.config = event_select_bits(row);
    event.extra = row.extra;
    if (const auto named = find_vendor_event(model, row.name)) event.extra = named->config1;
    event.refusal = refusal_of(model, event.config, event.extra);
    event.pebs = is_pebs_event(model, on_its_code(model, row, event.config));
    event.description = describe(model, row.name);
    modelled.insert({event.config, event.extra});
    names.insert(row.name);
    events.push_back(std::move(event));
  }
  if (listed == Listed::modelled) return events;
  std::vector<VendorEvent> others = listed_events(model);
  std::set<std::string> listed_names;
  for (const VendorEvent& vendor : others) listed_names.insert(vendor.name);
  for (VendorEvent& vendor : library_events(model))
    if (!listed_names.contains(vendor.name)) others.push_back(std::move(vendor));
  for (VendorEvent& vendor : others) {
    if (modelled.contains({vendor.config, vendor.config1}) || names.contains(vendor.name)) continue;
    ListedEvent event;
    event.name = std::move(vendor.name);
    event.config = vendor.config;
    event.extra = vendor.config1;
    event.description = std::move(vendor.description);
    const EventCode code = event_code(model.select, vendor.config);
    const auto definition = find_event(model, code.event, code.umask, vendor.config1);
    event.modelled = definition.has_value();
    event.refusal =
        definition ? refusal_of(model, event.config, event.extra) : refusal_of_unmodelled(model, event.name);
    event.pebs = definition && is_pebs_event(model, *definition);
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace pmusim::events
