// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/printable.h"
#include "record_command.h"

namespace pmusim::tools {

namespace {

constexpr double ns_per_ms = 1e6, ns_per_s = 1e9;

std::string line(std::string_view text) {
  return fmt::format("[ pmusim record: {} ]\n", printable_sentence(text));
}

using Events = std::vector<const events::ParsedEvent*>;

/// Events that sample by themselves and for which `wanted` holds.
template <class Predicate>
Events sampling_events(const std::vector<events::EventGroup>& groups, Predicate wanted) {
  Events found;
  for (const events::EventGroup& group : groups)
    for (const events::ParsedEvent& event : group.events) {
      const bool leads = &event == &group.events.front();
      const bool samples = leads || !event.sample_read || event.attr.sample_period != 0;
      if (samples && wanted(event)) found.push_back(&event);
    }
  return found;
}

std::string names(const Events& events) {
  std::vector<std::string_view> list;
  for (const events::ParsedEvent* const event : events) list.push_back(event->name);
  return fmt::format("{}", fmt::join(list, ", "));
}

bool reloads(const events::ParsedEvent& event) { return event.attr.config2 != 0; }

/// What keeps events with a rate of their own (period=, freq=) from sampling, and those without one.
std::string reason_of_periods(const RecordCommand& command, const RecordOptions& options,
                              const std::vector<events::EventGroup>& asked) {
  using events::ParsedEvent;
  const auto reloaded = sampling_events(asked, reloads);
  const auto with_period = sampling_events(asked, [](const ParsedEvent& e) {
    return !reloads(e) && e.attr.sample_period != 0 && e.attr.freq == 0;
  });
  const auto with_frequency = sampling_events(asked, [](const ParsedEvent& e) {
    return !reloads(e) && e.attr.sample_period != 0 && e.attr.freq != 0;
  });
  const auto others =
      sampling_events(asked, [](const ParsedEvent& e) { return !reloads(e) && e.attr.sample_period == 0; });
  std::vector<std::string> reasons;
  if (!reloaded.empty())
    reasons.push_back(
        fmt::format("auto counter reload began the counts of {} again before one of them reached its period",
                    names(reloaded)));
  if (!with_period.empty())
    reasons.push_back(fmt::format("the period in {} is more than ever occurred; a shorter one samples",
                                  names(with_period)));
  if (!with_frequency.empty())
    reasons.push_back(fmt::format("the frequency in {} is too low for so short a run; give a period",
                                  names(with_frequency)));
  if (!others.empty() && command.frequency) reasons.emplace_back("leave -F out, or give a period with -c");
  if (!others.empty() && command.period)
    reasons.push_back(fmt::format("-c {} is more than ever occurred; leave it out", *options.period));
  if (!others.empty() && command.chooses_periods())
    reasons.push_back(fmt::format("{} never occurred; 'pmusim stat' counts", names(others)));
  return fmt::format("{}", fmt::join(reasons, "; "));
}

/// Why there are no samples.
std::string reason_for_none(const RecordSummary& summary, const RecordCommand& command,
                            const RecordOptions& options, const std::vector<events::EventGroup>& asked) {
  if (summary.lost_samples != 0)
    return "every PEBS record names several events, and drivers drop such records; other periods, fewer "
           "events, or "
           "records that name their counters (Skylake and later) keep them apart";
  if (summary.lost_records != 0) return "the buffer had no room for any; -m makes it larger";
  if (!options.processes.empty() || !options.threads.empty())
    return "no sample is from the processes or threads chosen; 'pmusim stat --per-thread' shows who ran";
  if (!options.measured.empty()) return "the program may have ended before -D switched events on";
  return reason_of_periods(command, options, asked);
}

/// A frequency is per second, and emulated programs run for milliseconds.
std::string frequency_hint(const RecordSummary& summary, const RecordOptions& options) {
  constexpr double few_samples = 100;
  const double expected =
      static_cast<double>(summary.elapsed_ns) / ns_per_s * static_cast<double>(*options.frequency);
  if (expected >= few_samples) return "";
  return line(fmt::format(
      "{} Hz give about {:.0f} samples in {:.3f} ms of emulated time: without -F there "
      "would be some {}",
      *options.frequency, expected, static_cast<double>(summary.elapsed_ns) / ns_per_ms, default_samples));
}

/// "for about 4,000 samples", where that is certain.
std::string expectation_text(const ChosenPeriods& periods, const ChosenPeriod& one) {
  if (periods.growing) return "adapted as the program goes on";
  if (one.expected_samples == 0) return "for no samples";
  const std::string_view how = one.expectation == Expectation::near ? "about" : "at most";
  return fmt::format("for {} {} samples", how, one.expected_samples);
}

}  // namespace

std::string merged_overflows_text(u64 overflows) {
  return fmt::format(
      "{} overflows have no sample of their own: the period is shorter than what retires until the "
      "interrupt; a longer one (-c) or a precise event (:p) keeps them apart",
      overflows);
}

std::string summary_text(const RecordSummary& summary, const RecordCommand& command,
                         const RecordOptions& options, const std::vector<events::EventGroup>& asked) {
  std::string text =
      line(fmt::format("wrote {:.3f} MB {} ({} samples)", static_cast<double>(summary.file_bytes) / 1e6,
                       options.output, summary.samples));
  if (summary.samples == 0)
    text += line("WARNING: there are no samples: " + reason_for_none(summary, command, options, asked));
  else if (options.frequency)
    text += frequency_hint(summary, options);
  if (summary.lost_samples != 0)
    text += line(fmt::format("{} samples lost to PEBS collisions, counted in LOST_SAMPLES records",
                             summary.lost_samples));
  if (summary.driver.merged_overflows != 0)
    text += line(merged_overflows_text(summary.driver.merged_overflows));
  if (summary.lost_records != 0)
    text += line(fmt::format("{} records lost for want of buffer room", summary.lost_records));
  for (const std::string& warning : warnings(summary.driver)) text += line("WARNING: " + warning);
  if (summary.stopped) text += line("the rest of the run was left out");
  return text;
}

std::string chosen_text(const ChosenPeriods& periods) {
  std::string text;
  for (const ChosenPeriod& one : periods.chosen)
    text += line(fmt::format("{}: a sample every {} (-c or -F choose another), {}", printable(one.event),
                             one.period, expectation_text(periods, one)));
  return text;
}

std::string events_text(const std::vector<events::EventGroup>& groups) {
  std::string text;
  for (const events::EventGroup& group : groups)
    for (const events::ParsedEvent& event : group.events)
      text += fmt::format("{}: type {}, config {:#x}, config1 {:#x}, precise {}{}, {} {}\n",
                          printable(event.name), event.attr.type, event.attr.config, event.attr.config1,
                          static_cast<unsigned>(event.attr.precise_ip),
                          event.precision_may_fall ? " or less" : "",
                          event.attr.freq != 0 ? "frequency" : "period", event.attr.sample_period);
  return text;
}

}  // namespace pmusim::tools
