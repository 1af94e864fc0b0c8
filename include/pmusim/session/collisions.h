#ifndef PMUSIM_SESSION_COLLISIONS_H
#define PMUSIM_SESSION_COLLISIONS_H

#include <optional>
#include <string>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// One row of the collision experiment of April 2015: events sampled together with PEBS, and which part of
/// the records named more than one of them.
struct CollisionSet {
  std::vector<std::string> events;
  double published = 0;  ///< rate; one machine, four frequent events, periods unknown
};

/// The four sets in the order in which they were published.
const std::vector<CollisionSet>& published_collisions();

/// What the records of one or more replays show.
struct CollisionCounts {
  u64 records = 0;
  u64 collided = 0;  ///< of them, those that name several counters
  double rate() const {
    return records == 0 ? 0 : static_cast<double>(collided) / static_cast<double>(records);
  }
  CollisionCounts& operator+=(const CollisionCounts& other) {
    records += other.records;
    collided += other.collided;
    return *this;
  }
};

/// Replays a trace on `model` with `events` (perf's names, user mode, large PEBS buffer) at one fixed period
/// for all, and counts. Errors: the trace cannot be read, an event cannot be sampled on this model.
Result<CollisionCounts, Error> count_collisions(const std::string& trace, const CpuModel& model,
                                                const std::vector<std::string>& events, u64 period);

}  // namespace pmusim

#endif
