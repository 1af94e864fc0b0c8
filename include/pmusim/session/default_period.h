#ifndef PMUSIM_SESSION_DEFAULT_PERIOD_H
#define PMUSIM_SESSION_DEFAULT_PERIOD_H

#include <string>
#include <vector>

#include "pmusim/events/parser.h"
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
};

/// Samples that a profile should have.
constexpr u64 default_samples = 4000;

/// Gives each event that has neither period nor frequency the prime period that yields `default_samples`
/// samples over the whole trace. To know it, a session of its own counts the events, over a long trace's
/// beginning only.
///
/// Errors: an event that the kernel would refuse; a damaged trace. Call it before anything else replays
/// `session`.
Result<ChosenPeriods, Error> choose_periods(Session& session, std::vector<events::EventGroup> events);

}  // namespace pmusim

#endif
