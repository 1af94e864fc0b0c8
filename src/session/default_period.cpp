// SPDX-License-Identifier: MIT
#include "session/default_period.h"

#include <algorithm>

#include "pmusim/session/stat.h"
#include "pmusim/trace/reader.h"
#include "session/growing_periods.h"

namespace pmusim {

namespace {

/// A longer trace's beginning stands for all of it.
constexpr u64 counted_instructions = 1 << 24;

bool needs_period(const events::ParsedEvent& event, bool leads) {
  const bool only_read = event.sample_read && !leads;
  return event.attr.sample_period == 0 && !only_read;
}

u64 scaled(u64 count, u64 part, u64 whole) {
  if (part == 0 || part >= whole) return count;
  return static_cast<u64>(static_cast<double>(count) * static_cast<double>(whole) /
                          static_cast<double>(part));
}

}  // namespace

Result<ChosenPeriods, Error> choose_periods(Session& session, std::vector<events::EventGroup> groups) {
  ChosenPeriods result{.events = std::move(groups)};
  const Result<StatReport, Error> counts =
      stat(session, {.events = result.events, .max_instructions = counted_instructions});
  if (!counts.ok()) return Failure(counts.error());
  const std::optional<u64> length = session.trace().length();
  GrowingPeriods growing{.after_instructions = counts->instructions};
  std::size_t index = 0;
  for (events::EventGroup& group : result.events)
    for (events::ParsedEvent& event : group.events) {
      const u64 count =
          scaled(counts->events[index].value(), counts->instructions, length.value_or(counts->instructions));
      ++index;
      if (!needs_period(event, &event == &group.events.front())) continue;
      const u64 period = count < 2 * default_samples ? 1 : prime_from(count / default_samples);
      event.attr.freq = 0;
      event.attr.sample_period = period;
      result.chosen.push_back({event.name, period, count / period});
      growing.events.push_back(index - 1);
    }
  if (!length && !growing.events.empty()) result.growing = std::move(growing);
  return result;
}

}  // namespace pmusim
