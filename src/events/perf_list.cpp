// SPDX-License-Identifier: MIT
#include "events/perf_list.h"

#include <algorithm>
#include <array>
#include <optional>

#include "events/resolve.h"
#include "names.h"
#include "pmusim/events/parser.h"

namespace pmusim::events {
namespace {

PerfKind kind_of(const perf::Attr& attr) {
  switch (static_cast<perf::EventType>(attr.type)) {
    case perf::EventType::hardware:
      return PerfKind::hardware;
    case perf::EventType::software:
      return PerfKind::software;
    case perf::EventType::hw_cache:
      return PerfKind::cache;
    default:
      return PerfKind::driver;
  }
}

// A trace does not hold page faults, and a replay refuses to count them.
bool is_page_fault(const perf::Attr& attr) {
  const std::array faults{perf::SoftwareId::page_faults, perf::SoftwareId::page_faults_min,
                          perf::SoftwareId::page_faults_maj};
  return kind_of(attr) == PerfKind::software &&
         std::ranges::find(faults, static_cast<perf::SoftwareId>(attr.config)) != faults.end();
}

/// An event that the model has, with what tells it from others.
struct Candidate {
  PerfEvent event;
  u64 config = 0;
};

std::optional<Candidate> candidate(std::string_view name, const CpuModel& model) {
  const auto groups = parse_events(name, model);
  if (!groups.ok()) return std::nullopt;
  const perf::Attr& attr = groups->front().events.front().attr;
  if (is_page_fault(attr) || (is_pmu_event(attr) && !identify(model, attr).ok())) return std::nullopt;
  return Candidate{{kind_of(attr), {std::string(name)}}, attr.config};
}

}  // namespace

std::vector<PerfEvent> perf_events(const CpuModel& model) {
  std::vector<PerfEvent> events;
  u64 last_config = 0;
  for (const std::string_view name : perf_event_names(model)) {
    auto found = candidate(name, model);
    if (!found) continue;
    // Names of one event stand behind each other in the tables.
    const PerfKind kind = found->event.kind;
    const bool alias = !events.empty() && events.back().kind == kind && last_config == found->config &&
                       (kind == PerfKind::hardware || kind == PerfKind::software);
    last_config = found->config;
    if (alias)
      events.back().names.emplace_back(name);
    else
      events.push_back(std::move(found->event));
  }
  std::ranges::stable_sort(events, {}, &PerfEvent::kind);
  return events;
}

}  // namespace pmusim::events
