// SPDX-License-Identifier: MIT
#include "session/default_period.h"

#include <algorithm>
#include <set>

#include "events/sampling_pmus.h"
#include "pmusim/session/stat.h"
#include "pmusim/trace/trace.h"
#include "session/clock_events.h"
#include "session/growing_periods.h"

namespace pmusim {

namespace {

/// Of a program that runs so much is counted beforehand.
constexpr u64 counted_of_running_program = 1 << 24;

/// Shorter periods may pass between an overflow and its interrupt, and the next records of PEBS.
constexpr u64 shortest_certain_period = 1000;
/// A timer's: those of cpu-clock and task-clock (in ns) are no shorter, as in a kernel.
constexpr u64 shortest_clock_period = 10'000;

bool needs_period(const events::ParsedEvent& event, bool leads) {
  const bool only_read = event.sample_read && !leads;
  return event.attr.sample_period == 0 && !only_read;
}

bool reloads(const perf::Attr& attr, const CpuModel& model) {
  return model.acr.cause != 0 && attr.config2 != 0;
}

Expectation expectation_of(const events::ParsedEvent& event, const CpuModel& model,
                           perf::Throttling throttling) {
  const bool certain = event.attr.sample_period >= shortest_certain_period &&
                       throttling == perf::Throttling::off && !reloads(event.attr, model);
  return certain ? Expectation::near : Expectation::at_most;
}

/// What samples will be taken of, event by event.
std::vector<u64> sampled_counts(const StatReport& report, const RecordOptions& options) {
  std::vector<u64> counts(report.events.size());
  const auto add = [&](const std::vector<EventTotal>& totals) {
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] += totals[i].estimate ? totals[i].estimate->value : totals[i].counted;
  };
  if (options.processes.empty() && options.threads.empty()) add(report.events);
  for (const ThreadTotals& thread : report.threads)
    if (std::ranges::find(options.processes, thread.pid) != options.processes.end() ||
        std::ranges::find(options.threads, thread.tid) != options.threads.end())
      add(thread.events);
  return counts;
}

/// Chooses periods, no two of them alike.
class Choice {
 public:
  u64 for_count(u64 count, const perf::Attr& attr) {
    if (events::is_sampling_pmu(attr.type)) return in_steps(count / default_samples);
    const u64 shortest = is_clock(attr) ? shortest_clock_period : 1;
    u64 period = std::max(shortest, count < 2 * default_samples ? 1 : prime_from(count / default_samples));
    while (period > 1 && taken_.contains(period)) period = prime_from(period + 1);
    taken_.insert(period);
    return period;
  }

 private:
  u64 in_steps(u64 wanted) {
    u64 period = events::sampling_period(wanted);
    while (taken_.contains(period)) period += events::sampling_period_step;
    taken_.insert(period);
    return period;
  }

  std::set<u64> taken_;
};

/// As they are counted beforehand: a kernel refuses precise events that do not sample, and PMUs that only
/// sample count nothing.
std::vector<events::EventGroup> counting(std::vector<events::EventGroup> groups) {
  for (events::EventGroup& group : groups)
    for (events::ParsedEvent& event : group.events) {
      event.attr.precise_ip = 0;
      if (events::is_sampling_pmu(event.attr.type)) event.attr = events::counted_like(event.attr);
    }
  return groups;
}

}  // namespace

Result<ChosenPeriods, Error> choose_periods(Session& session, const RecordOptions& options,
                                            perf::Throttling throttling) {
  ChosenPeriods result{.events = options.events, .chosen = {}, .growing = {}};
  StatOptions stat_options{
      .events = counting(result.events),
      .fitting = session.windows() != nullptr ? Fitting::replay_again : Fitting::multiplex,
      .measured = options.measured};
  stat_options.per_thread = !options.processes.empty() || !options.threads.empty();
  if (!session.trace().length()) stat_options.max_instructions = counted_of_running_program;
  const Result<StatReport, Error> report = stat(session, stat_options);
  if (!report.ok()) return Failure(report.error());
  const std::vector<u64> counts = sampled_counts(*report, options);
  GrowingPeriods growing{.after_instructions = report->instructions, .events = {}};
  Choice choice;
  std::size_t index = 0;
  for (events::EventGroup& group : result.events)
    for (events::ParsedEvent& event : group.events) {
      const std::size_t number = index++;
      if (!needs_period(event, &event == &group.events.front())) continue;
      const u64 period = choice.for_count(counts[number], event.attr);
      event.attr.freq = 0;
      event.attr.sample_period = period;
      result.chosen.push_back(
          {event.name, period, counts[number] / period, expectation_of(event, session.model(), throttling)});
      growing.events.push_back(number);
    }
  if (!session.trace().length() && !growing.events.empty()) result.growing = std::move(growing);
  return result;
}

}  // namespace pmusim
