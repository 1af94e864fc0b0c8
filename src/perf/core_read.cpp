// SPDX-License-Identifier: MIT
#include <algorithm>

#include "perf/linux_core.h"
#include "perf/read_format.h"
#include "perf/refusal.h"

/// read() of events, and the counts that samples carry.
namespace pmusim::perf {

namespace {

/// The leader and its members, in the order in which a group is read.
std::vector<Event*> group_of(Event& event) {
  std::vector<Event*> all{event.leader};
  all.insert(all.end(), event.leader->siblings.begin(), event.leader->siblings.end());
  return all;
}

ReadTimes total_times(const Event& event) {
  ReadTimes times{event.time_enabled + event.child_time_enabled,
                  event.time_running + event.child_time_running};
  for (const Event* child : event.children) {
    times.enabled += child->time_enabled;
    times.running += child->time_running;
  }
  return times;
}

/// False when the original's group changed after `child` inherited it.
bool has_members_of_original(const Event* child) {
  return std::ranges::equal(child->siblings, child->parent->siblings,
                            [](const Event* own, const Event* original) { return own->parent == original; });
}

}  // namespace

void LinuxCore::update_count(Event& event, ReadScope scope) {
  update_times(event);
  if (event.state != EventState::active) return;
  if (scope == ReadScope::group && !event.is_leader())
    event.pmu->read_member(event);
  else
    event.pmu->read(event);
}

/// The event's own count with those of all that inherited from it, alive or gone.
u64 LinuxCore::total_count(Event& event, ReadScope scope) {
  update_count(event, scope);
  u64 total = event.count + event.child_count;
  for (Event* child : event.children) {
    update_count(*child, scope);
    total += child->count;
  }
  return total;
}

std::vector<u64> LinuxCore::read_values(Event& event) {
  const u64 format = event.attr.read_format;
  std::vector<ReadEntry> entries;
  const bool group = (format & read_format::GROUP) != 0;
  const ReadScope scope = group ? ReadScope::group : ReadScope::event;
  const auto add = [&](Event& member) {
    entries.push_back({total_count(member, scope), member.original().id, member.lost_samples});
  };
  if (group)
    for (Event* member : group_of(event)) add(*member);
  else
    add(event);
  std::vector<u64> words;
  put_read_values(words, format, total_times(group ? *event.leader : event), entries);
  return words;
}

Result<std::vector<u64>, KernelError> LinuxCore::read(Event& event) {
  if (event.state == EventState::error) return std::vector<u64>{};
  const bool group = (event.attr.read_format & read_format::GROUP) != 0;
  if (group && !std::ranges::all_of(event.leader->children, has_members_of_original))
    return refuse(ECHILD, "read: a task inherited the group when it had other members");
  auto words = read_values(event);
  update_page(event);
  return words;
}

Result<std::size_t, KernelError> LinuxCore::read(Event& event, std::span<std::byte> buffer) {
  if (event.state == EventState::error) return std::size_t{0};
  const std::size_t bytes =
      read_words(event.attr.read_format, 1 + event.leader->siblings.size()) * sizeof(u64);
  if (buffer.size() < bytes) return refuse(ENOSPC, "read: {} bytes do not fit in {}", bytes, buffer.size());
  auto words = read(event);
  if (!words) return Failure(words.error());
  std::ranges::copy(std::as_bytes(std::span(*words)), buffer.begin());
  return bytes;
}

/// SAMPLE_READ: with inherit only this thread's counts. Members other than the sampling event are read
/// afresh, but for precise ones: their counts are up to date with the records that are drained just now.
/// What the sample itself has recorded goes before either.
void LinuxCore::sample_read_values(Event& event, std::span<const CountAtSample> recorded,
                                   std::vector<u64>& words) {
  const u64 format = event.attr.read_format;
  const auto entry = [&](Event& member) {
    update_times(member);
    const auto known = std::ranges::find(recorded, &member, &CountAtSample::event);
    const bool stale = known == recorded.end() && &member != &event && member.state == EventState::active;
    if (stale) member.pmu->read(member);
    const u64 own = known != recorded.end() ? known->count : member.count;
    const u64 value = event.attr.inherit ? own : own + member.child_count;
    return ReadEntry{value, member.original().id, member.lost_samples};
  };
  std::vector<ReadEntry> entries;
  const bool group = (format & read_format::GROUP) != 0;
  if (group)
    for (Event* member : group_of(event)) entries.push_back(entry(*member));
  else
    entries.push_back(entry(event));
  const Event& timed = group ? *event.leader : event;
  ReadTimes times{timed.time_enabled, timed.time_running};
  if (!event.attr.inherit) {
    times.enabled += timed.child_time_enabled;
    times.running += timed.child_time_running;
  }
  words.clear();
  put_read_values(words, format, times, entries);
}

}  // namespace pmusim::perf
