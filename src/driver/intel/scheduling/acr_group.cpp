// SPDX-License-Identifier: MIT
#include "driver/intel/scheduling/acr_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "driver/intel/cores/core_traits.h"
#include "driver/intel/counters/topdown.h"
#include "driver/intel/intel_driver.h"
#include "driver/x86/event_data.h"

namespace pmusim::driver {
namespace {

using perf::Event;

Failure<KernelError> refuse_group(std::string text) { return Failure(KernelError(EINVAL, std::move(text))); }

/// The group as it will be: leader, siblings, the new event.
std::vector<Event*> members_with(Event& event) {
  std::vector<Event*> members{event.leader};
  for (Event* sibling : event.leader->siblings)
    if (sibling != &event) members.push_back(sibling);
  if (!event.is_leader()) members.push_back(&event);
  return members;
}

Result<Done, KernelError> check_event(const Event& event, u64 max_period) {
  if (is_metric(data_of(event).config))
    return refuse_group("config: topdown metrics cannot be in a group with acr_mask");
  if (event.attr.freq) return refuse_group("freq: events of a group with acr_mask need a fixed period");
  if (event.attr.config2 != 0 && event.attr.precise_ip > 2)
    return refuse_group("precise_ip: 3 and acr_mask exclude each other");
  if (event.attr.sample_period > max_period)
    return refuse_group(fmt::format("sample_period: {} is above {}, the longest that a counter can reload",
                                    event.attr.sample_period, max_period));
  if (!is_hardware_event(*event.leader))
    return refuse_group("group_fd: the leader of a group with acr_mask must be a CPU event");
  return Done{};
}

bool contiguous(const std::vector<Event*>& members) {
  bool software_seen = false;
  for (const Event* member : members) {
    if (!is_hardware_event(*member)) software_seen = true;
    if (software_seen && member->attr.config2 != 0) return false;
  }
  return true;
}

void narrow(const std::vector<Event*>& members, u64 named, const Enumeration& cpu) {
  unsigned position = 0;
  for (Event* member : members) {
    if (!is_hardware_event(*member)) continue;
    if (member->attr.config2 != 0) data_of(*member).dynamic_constraint &= cpu.acr_reloadable;
    if (position < 64 && (named & bit(position)) != 0) data_of(*member).dynamic_constraint &= cpu.acr_cause;
    ++position;
  }
}

}  // namespace

bool in_acr_group(const Event& event) { return has_flag(*event.leader, driver_flag::ACR_GROUP); }

Result<Done, KernelError> check_acr_group(Event& event, const Enumeration& cpu, u64 max_period) {
  if (cpu.acr_cause == 0 || (event.attr.config2 == 0 && !in_acr_group(event))) return Done{};
  if (auto result = check_event(event, max_period); !result.ok()) return result;
  const std::vector<Event*> members = members_with(event);
  if (!contiguous(members))
    return refuse_group("group_fd: an event with acr_mask cannot follow a software event of its group");
  u64 named = 0;
  int reloaded = 0;
  for (const Event* member : members) {
    named |= member->attr.config2;
    reloaded += member->attr.config2 != 0 ? 1 : 0;
  }
  if (std::popcount(named) > std::popcount(cpu.acr_cause))
    return refuse_group(
        fmt::format("config2: the group names {} causes of reloads, only {} counters can cause one",
                    std::popcount(named), std::popcount(cpu.acr_cause)));
  if (reloaded > std::popcount(cpu.acr_reloadable))
    return refuse_group(fmt::format("config2: {} events of the group are reloaded, only {} counters can be",
                                    reloaded, std::popcount(cpu.acr_reloadable)));
  data_of(*event.leader).flags |= driver_flag::ACR_GROUP;
  narrow(members, named, cpu);
  return Done{};
}

}  // namespace pmusim::driver
