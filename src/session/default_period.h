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

/// An event that was given a period.
struct ChosenPeriod {
  std::string event;
  u64 period = 0;
  u64 expected_samples = 0;
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
/// samples over the whole trace. To know it, a session of its own counts the events, over a long trace's
/// beginning only.
///
/// Where a program still runs after that, its length is not known. The periods are those for the beginning
/// then, and are to grow: twice as long each time the program has run twice as long. That adds some 2000
/// samples each time, and each sample has its period for a weight.
///
/// Errors: an event that the kernel would refuse; a damaged trace. Call it before anything else replays
/// `session`.
Result<ChosenPeriods, Error> choose_periods(Session& session, std::vector<events::EventGroup> events);

}  // namespace pmusim

#endif
