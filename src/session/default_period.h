// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_DEFAULT_PERIOD_H
#define PMUSIM_SRC_SESSION_DEFAULT_PERIOD_H

#include <optional>
#include <string>
#include <vector>

#include "pmusim/events/parser.h"
#include "pmusim/session/record.h"
#include "pmusim/session/session.h"

namespace pmusim {

/// How near the number of samples comes to the one expected.
enum class Expectation : u8 {
  near,     ///< within a quarter
  at_most,  ///< overflows may share a sample, or counters start again before they overflow
};

/// An event that was given a period.
struct ChosenPeriod {
  std::string event;
  u64 period = 0;
  u64 expected_samples = 0;
  Expectation expectation = Expectation::near;
};

struct ChosenPeriods {
  std::vector<events::EventGroup> events;  ///< with periods
  std::vector<ChosenPeriod> chosen;
  /// For a source whose length was not known: how the periods have to grow.
  std::optional<GrowingPeriods> growing;
};

/// Samples that a profile should have.
constexpr u64 default_samples = 4000;

/// Gives each event that has neither period nor frequency the prime period that yields `default_samples`
/// samples over the whole run. To know it, a session of its own counts the events: of the time, processes
/// and threads that are to be sampled, and taking turns as they will. No two events get the same period,
/// with which those that count the same would overflow together all along.
///
/// Of a program that runs only its beginning is counted: its length is not known. The periods are those for
/// the beginning then, and are to grow with the run (GrowingPeriods).
///
/// Errors: an event that the kernel would refuse; a damaged trace. Call it before anything else replays
/// `session`.
Result<ChosenPeriods, Error> choose_periods(Session& session, const RecordOptions& options,
                                            perf::Throttling throttling = perf::Throttling::off);

}  // namespace pmusim

#endif
