// SPDX-License-Identifier: MIT
#include "session/collisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "pmusim/events/parser.h"
#include "session/growing_periods.h"
#include "session/monitor.h"

namespace pmusim {

namespace {

/// How much more the replays differ than replays of independent records would: the quasi-binomial dispersion,
/// at least 1.
double dispersion(const std::vector<CollisionCount>& replays, double rate) {
  const double variance = rate * (1 - rate);
  if (replays.size() < 2 || variance <= 0) return 1;
  double sum = 0;
  for (const CollisionCount& replay : replays) {
    if (replay.records == 0) continue;
    const auto records = static_cast<double>(replay.records);
    const double beside = static_cast<double>(replay.collided) - rate * records;
    sum += beside * beside / (records * variance);
  }
  return std::max(1.0, sum / static_cast<double>(replays.size() - 1));
}

/// Opens the events; the error names the one that cannot be sampled.
Result<Done, Error> open_all_events(Monitor& monitor, const std::vector<std::string>& names, u64 period) {
  for (const std::string& name : names) {
    const auto parsed = events::parse_events(name, monitor.model());
    if (!parsed.ok()) return Failure(parsed.error());
    perf::Attr attr = parsed->front().events.front().attr;
    attr.exclude_kernel = attr.exclude_hv = 1;
    attr.sample_period = period;
    attr.sample_type = perf::sample::IP;
    const auto opened = monitor.open_event(attr);
    if (!opened.ok())
      return Failure(Error(fmt::format("event '{}': {} ({})", name, opened.error().message,
                                       std::strerror(opened.error().error_number))));
  }
  return Done{};
}

}  // namespace

const std::vector<CollisionSet>& published_collisions() {
  static const std::vector<CollisionSet> sets{
      {{"cycles:p", "instructions:p"}, 0.0025},
      {{"cycles:p", "instructions:p", "branches:p"}, 0.0030},
      {{"cycles:p", "instructions:p", "branches:p", "mem-stores:p"}, 0.0035},
      {{"cycles:p", "cycles:p"}, 0.9852},
  };
  return sets;
}

CollisionRate pooled(const std::vector<CollisionCount>& replays) {
  CollisionRate result;
  for (const CollisionCount& replay : replays) {
    result.records += replay.records;
    result.collided += replay.collided;
  }
  if (result.records == 0) return result;
  result.rate = static_cast<double>(result.collided) / static_cast<double>(result.records);

  constexpr double z = 1.96;  // 95 % of a normal distribution
  const double independent = static_cast<double>(result.records) / dispersion(replays, result.rate);
  const double weight = z * z / independent;
  const double middle = (result.rate + weight / 2) / (1 + weight);
  const double half =
      std::sqrt(weight * result.rate * (1 - result.rate) + weight * weight / 4) / (1 + weight);
  result.low = std::max(0.0, middle - half);
  result.high = std::min(1.0, middle + half);
  return result;
}

std::vector<u64> periods_around(u64 period, unsigned most) {
  std::vector<u64> periods{period};
  for (u64 distance = 1; distance <= period / 4 && periods.size() < most; ++distance)
    for (const u64 other : {period - distance, period + distance})
      if (periods.size() < most && prime_from(other) == other) periods.push_back(other);
  return periods;
}

Result<std::vector<CollisionCount>, Error> count_collisions(const std::string& trace,
                                                            const CollisionExperiment& experiment) {
  auto session = Session::open(trace, {.model = experiment.model});
  if (!session.ok()) return Failure(session.error());
  std::vector<Monitor*> monitors;
  for (const u64 period : experiment.periods) {
    monitors.push_back(monitors.empty() ? &session->monitor() : &session->add_monitor());
    if (auto opened = open_all_events(*monitors.back(), experiment.events, period); !opened.ok())
      return Failure(opened.error());
  }
  session->on_progress(experiment.progress);
  if (const auto replayed = session->run(); !replayed.ok()) return Failure(replayed.error());
  std::vector<CollisionCount> counts;
  for (const Monitor* monitor : monitors) {
    const driver::DemuxTotals& totals = monitor->driver().pebs_totals();
    counts.push_back({.records = totals.records, .collided = totals.collided + totals.shared});
  }
  return counts;
}

}  // namespace pmusim
