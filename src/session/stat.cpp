// SPDX-License-Identifier: MIT
#include "pmusim/session/stat.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "events/resolve.h"
#include "session/counted_events.h"
#include "session/event_tasks.h"
#include "session/merged_types.h"
#include "session/stat_file_writer.h"
#include "session/thread_counts.h"
#include "session/time_spans.h"

namespace pmusim {

u64 EventTotal::value() const {
  if (estimate) return estimate->value * scale;
  if (scaled || running_ns == 0 || running_ns >= enabled_ns) return counted * scale;
  return static_cast<u64>(scale * static_cast<double>(counted) * static_cast<double>(enabled_ns) /
                          static_cast<double>(running_ns));
}

namespace {

/// What changed since `before`.
std::vector<EventTotal> difference(std::vector<EventTotal> now, const std::vector<EventTotal>& before) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    now[i].counted -= before[i].counted;
    now[i].enabled_ns -= before[i].enabled_ns;
    now[i].running_ns -= before[i].running_ns;
  }
  return now;
}

std::vector<CpuTotals> difference(std::vector<CpuTotals> now, const std::vector<CpuTotals>& before) {
  for (std::size_t i = 0; i < before.size(); ++i)
    now[i].events = difference(std::move(now[i].events), before[i].events);
  return now;
}

/// What has to happen while the program runs: intervals end, events are switched on and off, limits are
/// reached.
class Watch {
 public:
  /// `file`: null without one.
  Watch(Session& session, const StatOptions& options, CountedEvents& events, StatFileWriter* file)
      : session_(session), options_(options), events_(events), file_(file) {
    next_interval_ = options.interval_ns.value_or(~u64{0});
    if (!is_measured(options.measured, 0)) switch_events(false);
    session.on_pause([this] { pause(); });
    if (options.per_thread) session.on_side_band([this](const trace::SideBandRecord& h) { on_side_band(h); });
  }
  ~Watch() {
    session_.on_pause({});
    session_.on_side_band({});
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void finish() {
    if (options_.interval_ns) end_interval();
    if (file_ != nullptr && !options_.interval_ns)
      file_->end_round(StatFileWriter::Round::last, session_.now(), events_.read(), events_.read_cpus());
    threads_.finish(events_.read());
  }
  std::vector<ThreadTotals> threads() { return threads_.take(); }

 private:
  void switch_events(bool on) {
    on_ = on;
    on ? events_.enable() : events_.disable();
  }

  void pause() {
    const u64 now = session_.now();
    if (is_measured(options_.measured, now) != on_) switch_events(!on_);
    if (now >= next_interval_) {
      end_interval();
      next_interval_ += (1 + (now - next_interval_) / *options_.interval_ns) * *options_.interval_ns;
    }
    if (session_.instructions() >= options_.max_instructions || now >= options_.max_ns) session_.stop();
  }

  void end_interval() {
    const std::vector<EventTotal> now = events_.read();
    const std::vector<CpuTotals> cpus = events_.read_cpus();
    if (file_ != nullptr) file_->end_round(StatFileWriter::Round::interval, session_.now(), now, cpus);
    IntervalTotals totals{session_.now(), difference(now, at_interval_), difference(cpus, cpus_at_interval_)};
    if (options_.merge_core_types) merge_core_types(totals.events, totals.cpus);
    if (options_.on_interval) options_.on_interval(totals);
    at_interval_ = now;
    cpus_at_interval_ = cpus;
  }

  void on_side_band(const trace::SideBandRecord& record) {
    if (ThreadCounts::matters(record)) threads_.on_side_band(record, events_.read());
  }

  Session& session_;
  const StatOptions& options_;
  CountedEvents& events_;
  StatFileWriter* file_;
  bool on_ = true;
  u64 next_interval_;
  std::vector<EventTotal> at_interval_;
  std::vector<CpuTotals> cpus_at_interval_;
  ThreadCounts threads_;
};

/// Whether a group that cannot be opened is shown as not supported.
bool is_shown(const events::EventGroup& group, const CpuModel& model, Uncountable uncountable) {
  const auto absent = [&](const events::ParsedEvent& event) { return events::is_absent(model, event.attr); };
  return uncountable == Uncountable::shown ||
         (uncountable == Uncountable::perfs && std::ranges::any_of(group.events, absent));
}

Result<Done, Error> open(CountedEvents& events, const events::EventGroup& group, const CpuModel& model,
                         Uncountable uncountable) {
  const Result<Done, Error> opened = events.open(group);
  if (opened.ok() || !is_shown(group, model, uncountable)) return opened;
  events.show_unsupported(group);
  return Done{};
}

/// Windows say something of the program as a whole.
Result<Done, Error> check_whole(const StatOptions& options) {
  const auto refuse = [](std::string_view what) {
    return Failure(
        Error(fmt::format("{}: core 'sampled' estimates counts of the whole program; core "
                          "'interval' counts its parts",
                          what)));
  };
  if (options.per_thread) return refuse("counts by thread");
  if (options.interval_ns) return refuse("counts by interval");
  if (!options.measured.empty()) return refuse("counts of a part of the time");
  if (options.fitting == Fitting::multiplex) return refuse("events that take turns");
  return Done{};
}

/// What is counted of a program: from before its replay until after it.
class ProgramCount {
 public:
  /// `options` outlives it.
  static Result<std::unique_ptr<ProgramCount>, Error> create(Session& session, const StatOptions& options,
                                                             std::optional<std::vector<u32>> cpus) {
    if (session.windows() != nullptr)
      if (const Result<Done, Error> checked = check_whole(options); !checked.ok())
        return Failure(checked.error());
    if (const auto checked = check_cgroups(options.events, session, cpus.has_value()); !checked.ok())
      return Failure(checked.error());
    std::unique_ptr<ProgramCount> count(new ProgramCount(session, options, std::move(cpus)));
    if (const auto begun = count->begin(); !begun.ok()) return Failure(begun.error());
    return count;
  }

  /// Behind the replay.
  Result<StatReport, Error> finish() {
    watch_->finish();
    if (const Result<Done, Error> enough = events_.check_windows(); !enough.ok())
      return Failure(enough.error());
    if (file_)
      if (const Result<Done, Error> written = file_->finish(); !written.ok()) return Failure(written.error());
    StatReport report{.events = events_.read(),
                      .threads = watch_->threads(),
                      .cpus = events_.read_cpus(),
                      .instructions = session_.instructions(),
                      .elapsed_ns = session_.now(),
                      .replays = events_.monitors(),
                      .driver = session_.driver_statistics()};
    if (!options_.merge_core_types) return report;
    merge_core_types(report.events, report.cpus);
    for (ThreadTotals& thread : report.threads) merge_core_types(thread.events);
    return report;
  }

 private:
  ProgramCount(Session& session, const StatOptions& options, std::optional<std::vector<u32>> cpus)
      : session_(session),
        options_(options),
        events_(session, names_cgroups(options.events) ? Fitting::multiplex : options.fitting,
                std::move(cpus)) {}

  Result<Done, Error> begin() {
    for (const events::EventGroup& group : options_.events)
      if (const auto opened = open(events_, group, session_.model(), options_.uncountable); !opened.ok())
        return opened;
    for (const std::string& name : options_.if_possible) events_.open_if_possible(name);
    if (!options_.record_to.empty()) {
      if (names_cgroups(options_.events))
        return Failure(Error("perf's files of counts do not say of which cgroup they are"));
      auto created = StatFileWriter::create(session_, options_, events_);
      if (!created.ok()) return Failure(created.error());
      file_.emplace(std::move(created).value());
    }
    watch_.emplace(session_, options_, events_, file_ ? &*file_ : nullptr);
    return Done{};
  }

  Session& session_;
  const StatOptions& options_;
  CountedEvents events_;
  std::optional<StatFileWriter> file_;
  std::optional<Watch> watch_;
};

void add(std::vector<EventTotal>& sums, const std::vector<EventTotal>& more) {
  if (sums.empty())
    sums = more;
  else
    for (std::size_t n = 0; n < sums.size(); ++n) {
      sums[n].counted += more[n].counted;
      sums[n].enabled_ns += more[n].enabled_ns;
      sums[n].running_ns += more[n].running_ns;
    }
}

/// Of these CPUs of the whole machine those that the program has, by its own numbers.
std::optional<std::vector<u32>> own_cpus(const Session& program, const StatOptions& options) {
  if (!options.cpus) return std::nullopt;
  std::vector<u32> own;
  const std::vector<u32>& numbers = program.cpus_of_machine();
  for (u32 cpu = 0; cpu < numbers.size(); ++cpu)
    if (std::ranges::find(*options.cpus, numbers[cpu]) != options.cpus->end()) own.push_back(cpu);
  return own;
}

}  // namespace

Result<StatReport, Error> stat(Session& session, const StatOptions& options) {
  const auto count = ProgramCount::create(session, options, options.cpus);
  if (!count.ok()) return Failure(count.error());
  if (Result<Done, Error> replayed = session.run(); !replayed.ok()) return Failure(replayed.error());
  return (*count)->finish();
}

Result<StatReport, Error> stat(std::span<Session> programs, const StatOptions& options, unsigned threads) {
  if (options.interval_ns || !options.record_to.empty() || options.merge_core_types)
    return Failure(Error("intervals, files of counts and merged kinds of core go with one program"));
  std::vector<std::unique_ptr<ProgramCount>> counts;
  for (Session& program : programs) {
    auto count = ProgramCount::create(program, options, own_cpus(program, options));
    if (!count.ok()) return Failure(count.error());
    counts.push_back(std::move(count).value());
  }
  if (const auto replayed = run_side_by_side(programs, threads); !replayed.ok())
    return Failure(replayed.error());
  StatReport all;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    auto report = counts[n]->finish();
    if (!report.ok()) return report;
    add(all.events, report->events);
    std::ranges::move(report->threads, std::back_inserter(all.threads));
    for (CpuTotals& cpu : report->cpus)
      all.cpus.push_back({programs[n].cpus_of_machine()[cpu.cpu], std::move(cpu.events)});
    all.instructions += report->instructions;
    all.elapsed_ns = std::max(all.elapsed_ns, report->elapsed_ns);
    all.replays = std::max(all.replays, report->replays);
    all.driver += report->driver;
  }
  std::ranges::sort(all.cpus, {}, &CpuTotals::cpu);
  return all;
}

}  // namespace pmusim
