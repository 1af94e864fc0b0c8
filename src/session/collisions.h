// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_COLLISIONS_H
#define PMUSIM_SRC_SESSION_COLLISIONS_H

#include <functional>
#include <string>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"
#include "pmusim/session/session.h"

namespace pmusim {

/// One row of the collision experiment of April 2015: events sampled together with PEBS, and which part of
/// the records named more than one of them.
struct CollisionSet {
  std::vector<std::string> events;
  double published = 0;  ///< rate; one machine, four frequent events, periods unknown
};

/// The four sets in the order in which they were published.
const std::vector<CollisionSet>& published_collisions();

/// What the records of one replay show.
struct CollisionCount {
  u64 records = 0;
  u64 collided = 0;  ///< of them, those that name several counters
};

/// A rate and how far to trust it.
struct CollisionRate {
  u64 records = 0, collided = 0;
  double rate = 0;
  double low = 0, high = 1;  ///< 95 % confidence interval
};

/// The rate over several replays. Collisions come in runs where two events drift past each other slowly, so
/// the interval (Wilson's) widens by as much as replays differ more than independent records would.
CollisionRate pooled(const std::vector<CollisionCount>& replays);

/// `period`, then the primes nearest to it, at most a quarter away: at most `most` periods. Several periods
/// keep an accidental beat with a loop of the program out of the rate.
std::vector<u64> periods_around(u64 period, unsigned most);

/// Events (perf's names, user mode, large PEBS buffer) with one fixed period for all of them, which is
/// another one in each replay.
struct CollisionExperiment {
  CpuModel model;
  std::vector<std::string> events;
  std::vector<u64> periods;
  /// Called now and then with instructions of one trace, all replays side by side.
  std::function<void(Progress)> progress{};
};

/// Replays a trace once per period and counts. Errors: the trace cannot be read, an event cannot be sampled
/// on this model.
Result<std::vector<CollisionCount>, Error> count_collisions(const std::string& trace,
                                                            const CollisionExperiment& experiment);

}  // namespace pmusim

#endif
