// SPDX-License-Identifier: MIT
#include "session/event_tasks.h"

#include <algorithm>
#include <optional>

#include "session/core_types.h"

namespace pmusim {

namespace {

/// That of its first event that has one.
std::optional<u32> core_type_of(const events::EventGroup& group) {
  for (const events::ParsedEvent& event : group.events)
    if (const auto type = pmusim::core_type_of(event.attr)) return type;
  return std::nullopt;
}

}  // namespace

bool names_cgroups(std::span<const events::EventGroup> groups) {
  return std::ranges::any_of(groups, [](const events::EventGroup& group) { return !group.cgroup.empty(); });
}

Result<Done, Error> check_cgroups(std::span<const events::EventGroup> groups, const Session& session,
                                  bool of_cpus) {
  if (!names_cgroups(groups) || session.machine() == nullptr || of_cpus) return Done{};
  return Failure(Error("events of cgroups belong to CPUs, and not to the program"));
}

std::vector<CountedTasks> tasks_on(std::span<const u32> cpus, const events::EventGroup& group, i32 pid,
                                   const Session& session, Monitor& monitor) {
  const auto on = [&](i32 cpu) {
    return group.cgroup.empty() ? CountedTasks{.pid = pid, .cpu = cpu}
                                : monitor.tasks_of_cgroup(group.cgroup, cpu);
  };
  const Topology* const machine = session.machine();
  if (machine == nullptr) return {on(0)};
  const std::optional<u32> type = machine->hybrid() ? core_type_of(group) : std::nullopt;
  std::vector<CountedTasks> all;
  for (const u32 cpu : cpus)
    if (!type || machine->cpus[cpu].type == *type) all.push_back(on(static_cast<i32>(cpu)));
  return all;
}

}  // namespace pmusim
