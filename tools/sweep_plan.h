// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_SWEEP_PLAN_H
#define PMUSIM_TOOLS_SWEEP_PLAN_H

#include <span>
#include <vector>

#include "sweep_file.h"

namespace pmusim::tools {

/// All jobs of a trace on a model: one replay does them.
struct SweepReplay {
  std::span<const SweepJob> jobs;
  u64 cost = 0;  ///< estimated, in no unit

  const SweepJob& first() const { return jobs.front(); }
  std::string name() const { return first().replay_name(); }
};

/// Replays of a sweep, the longest first.
std::vector<SweepReplay> replays_of(std::span<const SweepJob> jobs);

/// Those of one shard. The parts take about the same time, whatever is left to do of them, and every process
/// that reads the same sweep divides it alike.
std::vector<SweepReplay> shard_of(const std::vector<SweepReplay>& replays, Shard shard);

}  // namespace pmusim::tools

#endif
