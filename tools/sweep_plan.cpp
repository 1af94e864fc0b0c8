// SPDX-License-Identifier: MIT
#include "sweep_plan.h"

#include <algorithm>
#include <bit>

namespace pmusim::tools {

namespace {

/// Replaying a trace takes so much, each PMU beside the first that its events fill 1.
constexpr u64 cost_of_replaying = 3;

u64 pmus_of(std::span<const SweepJob> jobs) {
  u64 events = 0;
  for (const SweepJob& job : jobs)
    for (const events::EventGroup& group : job.list.groups) events += group.events.size();
  const auto counters = static_cast<u64>(std::popcount(jobs.front().model.counters()));
  return events / std::max<u64>(1, counters);
}

SweepReplay replay_of(std::span<const SweepJob> jobs) {
  return {jobs, (jobs.front().instructions + 1) * (cost_of_replaying + pmus_of(jobs))};
}

}  // namespace

std::vector<SweepReplay> replays_of(std::span<const SweepJob> jobs) {
  std::vector<SweepReplay> replays;
  while (!jobs.empty()) {
    const std::string name = jobs.front().replay_name();
    const auto end =
        std::ranges::find_if(jobs, [&](const SweepJob& job) { return job.replay_name() != name; });
    const std::size_t size = static_cast<std::size_t>(end - jobs.begin());
    replays.push_back(replay_of(jobs.first(size)));
    jobs = jobs.subspan(size);
  }
  std::ranges::stable_sort(replays, std::ranges::greater{}, &SweepReplay::cost);
  return replays;
}

// Each replay, the longest first, goes to the shard that has least to do.
std::vector<SweepReplay> shard_of(const std::vector<SweepReplay>& replays, Shard shard) {
  std::vector<u64> loads(std::min<u64>(shard.count, replays.size()));
  std::vector<SweepReplay> part;
  for (const SweepReplay& replay : replays) {
    const auto least = std::ranges::min_element(loads);
    *least += replay.cost;
    if (static_cast<u64>(least - loads.begin()) == shard.index - 1) part.push_back(replay);
  }
  return part;
}

}  // namespace pmusim::tools
