// SPDX-License-Identifier: MIT
#include "pmusim/session/stat.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

Result<StatReport, Error> stat(Session& session, const StatOptions& options) {
  if (session.windows() != nullptr)
    if (const Result<Done, Error> checked = check_whole(options); !checked.ok())
      return Failure(checked.error());
  const bool by_cgroup = names_cgroups(options.events);
  if (const auto checked = check_cgroups(options.events, session, options.cpus.has_value()); !checked.ok())
    return Failure(checked.error());
  CountedEvents events(session, by_cgroup ? Fitting::multiplex : options.fitting, options.cpus);
  for (const events::EventGroup& group : options.events)
    if (const Result<Done, Error> opened = open(events, group, session.model(), options.uncountable);
        !opened.ok())
      return Failure(opened.error());
  for (const std::string& name : options.if_possible) events.open_if_possible(name);

  std::optional<StatFileWriter> file;
  if (!options.record_to.empty()) {
    if (by_cgroup) return Failure(Error("perf's files of counts do not say of which cgroup they are"));
    auto created = StatFileWriter::create(session, options, events);
    if (!created.ok()) return Failure(created.error());
    file.emplace(std::move(created).value());
  }
  Watch watch(session, options, events, file ? &*file : nullptr);
  if (Result<Done, Error> replayed = session.run(); !replayed.ok()) return Failure(replayed.error());
  watch.finish();
  if (const Result<Done, Error> enough = events.check_windows(); !enough.ok()) return Failure(enough.error());
  if (file)
    if (const Result<Done, Error> written = file->finish(); !written.ok()) return Failure(written.error());
  StatReport report{.events = events.read(),
                    .threads = watch.threads(),
                    .cpus = events.read_cpus(),
                    .instructions = session.instructions(),
                    .elapsed_ns = session.now(),
                    .replays = events.monitors(),
                    .driver = session.driver_statistics()};
  if (options.merge_core_types) {
    merge_core_types(report.events, report.cpus);
    for (ThreadTotals& thread : report.threads) merge_core_types(thread.events);
  }
  return report;
}

}  // namespace pmusim
