// SPDX-License-Identifier: MIT
#include "session/merged_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pmusim {

namespace {

void add_other_type(EventTotal& sum, const EventTotal& other) {
  const u64 scaled = sum.scaled ? sum.counted : sum.value() / sum.scale;
  sum.counted = scaled + other.value() / other.scale;
  sum.scaled = true;
  sum.enabled_ns += other.enabled_ns;
  sum.running_ns += other.running_ns;
  sum.supported = sum.supported || other.supported;
  sum.elsewhere = sum.elsewhere && other.elsewhere;
}

}  // namespace

std::string name_on_any_core(const std::string& name) {
  constexpr std::string_view core = "cpu_core/", atom = "cpu_atom/";
  if (!name.starts_with(core) && !name.starts_with(atom)) return name;
  const std::size_t end = std::max(name.rfind('/'), core.size());
  const std::string event = name.substr(core.size(), end - core.size()), modifiers = name.substr(end + 1);
  if (event.find('=') != std::string::npos) return fmt::format("cpu/{}/{}", event, modifiers);
  return fmt::format("{}{}{}", event, modifiers.empty() ? "" : ":", modifiers);
}

void merge_core_types(std::vector<EventTotal>& events) {
  std::vector<EventTotal> merged;
  for (EventTotal& event : events) {
    const std::string name = name_on_any_core(event.name);
    const bool is_of_type = name != event.name;
    event.name = name;
    const auto known = std::ranges::find_if(
        merged, [&](const EventTotal& other) { return other.name == name && other.cgroup == event.cgroup; });
    if (is_of_type && known != merged.end())
      add_other_type(*known, event);
    else
      merged.push_back(std::move(event));
  }
  events = std::move(merged);
}

void merge_core_types(std::vector<EventTotal>& events, std::vector<CpuTotals>& cpus) {
  merge_core_types(events);
  for (CpuTotals& cpu : cpus) merge_core_types(cpu.events);
}

}  // namespace pmusim
