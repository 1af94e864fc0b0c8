// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pmusim/session/stat.h"
#include "session/window_estimate.h"

namespace pmusim {
namespace {

constexpr u64 first_windows = 200;  // at least, where the program's length is known
constexpr unsigned most_replays = 4;
constexpr double margin = 0.9;  // what is known of the spread of windows is itself an estimate

u64 shortest_distance(const CoreWindows& windows) { return windows.detail + windows.warm; }

/// Half of the interval around the cycles, as a share of them.
Result<double, Error> error_of(std::unique_ptr<trace::Source> source, const SessionOptions& options) {
  auto session = Session::open(std::move(source), options);
  if (!session.ok()) return Failure(session.error());
  const auto cycles = events::parse_events("cycles", options.model);
  if (!cycles.ok()) return Failure(cycles.error());
  const auto report = stat(*session, {.events = *cycles});
  if (!report.ok()) return Failure(report.error());
  const Estimate& estimate = report->events.front().estimate.value();
  return static_cast<double>(estimate.half_width) / static_cast<double>(std::max<u64>(estimate.value, 1));
}

/// How far apart windows are that have this error where they had that one.
u64 distance_for(double error, double had, const CoreWindows& windows) {
  const double ratio = error / had;
  const double distance = static_cast<double>(windows.every) * ratio * ratio * margin;
  return std::max(shortest_distance(windows), static_cast<u64>(distance));
}

}  // namespace

Result<CoreWindows, Error> choose_windows(
    const std::function<Result<std::unique_ptr<trace::Source>, Error>()>& open, const SessionOptions& options,
    double error) {
  SessionOptions tried = options;
  CoreWindows& windows = tried.windows;
  for (unsigned replay = 0; replay < most_replays; ++replay) {
    auto source = open();
    if (!source.ok()) return Failure(source.error());
    if (const auto length = (*source)->length(); length && replay == 0)
      windows.every = std::clamp(*length / first_windows, shortest_distance(windows),
                                 std::max(windows.every, shortest_distance(windows)));
    const auto had = error_of(std::move(*source), tried);
    if (!had.ok()) return Failure(had.error());
    if (*had <= error) return windows;
    if (windows.every == shortest_distance(windows)) break;
    windows.every = distance_for(error, *had, windows);
  }
  return Failure(
      Error(fmt::format("core 'sampled': no windows of {} instructions know the cycles of this program "
                        "to {:.3g} %: core 'interval' counts all of them",
                        windows.detail, 100 * error)));
}

}  // namespace pmusim
