// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "base/printable.h"
#include "record_command.h"

namespace pmusim::tools {

namespace {

constexpr double ns_per_ms = 1e6, ns_per_s = 1e9;

std::string line(std::string_view text) {
  return fmt::format("[ pmusim record: {} ]\n", printable_sentence(text));
}

/// Why there are no samples, where it can be told.
std::string reason_for_none(const RecordCommand& command, const RecordOptions& options) {
  if (!options.processes.empty() || !options.threads.empty())
    return "no sample is from the processes or threads chosen; 'pmusim stat --per-thread' shows who ran";
  if (!options.measured.empty()) return "the program may have ended before -D switched events on";
  if (command.frequency) return "leave -F out, or give a period with -c";
  if (command.period) return fmt::format("-c {} is more than ever occurred; leave it out", *options.period);
  return "the events never occurred; 'pmusim stat' counts them";
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

}  // namespace

std::string merged_overflows_text(u64 overflows) {
  return fmt::format(
      "{} overflows have no sample of their own: the period is shorter than what retires until the "
      "interrupt; a longer one (-c) or a precise event (:p) keeps them apart",
      overflows);
}

std::string summary_text(const RecordSummary& summary, const RecordCommand& command,
                         const RecordOptions& options) {
  std::string text =
      line(fmt::format("wrote {:.3f} MB {} ({} samples)", static_cast<double>(summary.file_bytes) / 1e6,
                       options.output, summary.samples));
  if (summary.samples == 0)
    text += line("WARNING: there are no samples: " + reason_for_none(command, options));
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
  const std::string_view so_far = periods.growing ? " so far, and less often as the program goes on" : "";
  std::string text;
  for (const ChosenPeriod& one : periods.chosen)
    text += line(fmt::format("{}: a sample every {} (-c or -F choose another), for about {} samples{}",
                             one.event, one.period, one.expected_samples, so_far));
  return text;
}

std::string events_text(const std::vector<events::EventGroup>& groups) {
  std::string text;
  for (const events::EventGroup& group : groups)
    for (const events::ParsedEvent& event : group.events)
      text += fmt::format("{}: type {}, config {:#x}, config1 {:#x}, precise {}{}, {} {}\n", event.name,
                          event.attr.type, event.attr.config, event.attr.config1,
                          static_cast<unsigned>(event.attr.precise_ip),
                          event.precision_may_fall ? " or less" : "",
                          event.attr.freq != 0 ? "frequency" : "period", event.attr.sample_period);
  return text;
}

}  // namespace pmusim::tools
