// SPDX-License-Identifier: MIT
#include "session/stat_file_writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "session/clock_events.h"
#include "session/file_options.h"
#include "session/old_file.h"

namespace pmusim {

namespace {

using perfdata::Payload;
using perfdata::UserRecord;

/// A list, which every release of perf reads: its kind (0), a length, and numbers of 16 bits.
Payload cpu_map(const std::vector<i32>& cpus) {
  Payload payload;
  payload.put(u16{0});
  payload.put(static_cast<u16>(cpus.size()));
  for (const i32 cpu : cpus) payload.put(static_cast<u16>(cpu));
  return payload;
}

/// One: a process, or everybody.
Payload thread_map(i64 pid) {
  constexpr std::size_t name_bytes = 16;
  Payload payload;
  payload.put(u64{1});
  payload.put(pid);
  payload.put_zeros(name_bytes);
  return payload;
}

Payload stat_config(const StatOptions& options) {
  using namespace perfdata;
  constexpr u64 ns_per_ms = 1'000'000;
  const u64 aggregation = options.record_cpu_by_cpu ? aggregate_none : aggregate_all;
  const std::array<std::array<u64, 2>, 3> terms{
      {{stat_config_aggregation, aggregation},
       {stat_config_interval, options.interval_ns.value_or(0) / ns_per_ms},
       {stat_config_scale, 1}}};
  Payload payload;
  payload.put(u64{terms.size()});
  for (const auto& term : terms) payload.put(term);
  return payload;
}

Payload update(u64 kind, u64 id, const Payload& value) {
  Payload payload;
  payload.put(kind);
  payload.put(id);
  payload.put_bytes(value.bytes());
  return payload;
}

}  // namespace

Result<StatFileWriter, Error> StatFileWriter::create(const Session& session, const StatOptions& options,
                                                     const CountedEvents& events) {
  RecordOptions named;
  named.output = options.record_to;
  named.command_line = options.command_line;
  perfdata::Options file = writer_options(session, named);
  file.time_conversion.reset();
  file.counts = true;
  auto writer = perfdata::Writer::create(options.record_to, std::move(file));
  if (!writer.ok()) return Failure(writer.error());
  StatFileWriter created(std::move(writer).value(), options);
  for (const CpuTotals& cpu : events.read_cpus()) created.places_.push_back(static_cast<i32>(cpu.cpu));
  if (created.places_.empty()) created.places_.push_back(session.machine() != nullptr ? -1 : 0);
  if (Result<Done, Error> added = created.add_events(events); !added.ok()) return Failure(added.error());
  created.describe(session, events);
  if (created.error_) return Failure(*created.error_);
  return created;
}

Result<Done, Error> StatFileWriter::add_events(const CountedEvents& events) {
  const std::vector<EventTotal> totals = events.read();
  const std::vector<perf::Attr> attrs = events.attrs();
  const std::vector<CpuTotals> cpus = events.read_cpus();
  for (u32 event = 0; event < totals.size(); ++event) {
    if (!totals[event].supported) continue;
    perf::Attr attr = attrs[event];
    attr.sample_type = perf::sample::IDENTIFIER;
    std::vector<u64> ids;
    for (std::size_t place = 0; place < places_.size(); ++place)
      if (cpus.empty() || !cpus[place].events[event].elsewhere) ids.push_back(id_of(event, place));
    if (Result<Done, Error> added = writer_.add_event(attr, totals[event].name, ids); !added.ok())
      return added;
  }
  return Done{};
}

void StatFileWriter::describe(const Session& session, const CountedEvents& events) {
  const std::vector<EventTotal> totals = events.read();
  const std::vector<perf::Attr> attrs = events.attrs();
  const bool hybrid = session.machine() != nullptr && session.machine()->hybrid();
  const auto own_cpus = hybrid ? events.read_cpus() : std::vector<CpuTotals>();
  for (u32 event = 0; event < totals.size(); ++event)
    if (totals[event].supported) describe(event, attrs[event], totals[event].scale, own_cpus);
  write(UserRecord::thread_map, thread_map(places_.front() < 0 ? i64{session.first_thread()} : -1));
  write(UserRecord::cpu_map, cpu_map(places_));
  write(UserRecord::stat_config, stat_config(options_));
}

/// What the attribute does not say: in which unit it is shown, and, of an event of one kind of core, where it
/// counts.
void StatFileWriter::describe(u32 event, const perf::Attr& attr, unsigned scale,
                              const std::vector<CpuTotals>& own_cpus) {
  std::vector<i32> own;
  std::size_t first = 0;  // place that has the event
  for (std::size_t place = own_cpus.size(); place-- > 0;)
    if (!own_cpus[place].events[event].elsewhere) {
      own.insert(own.begin(), places_[place]);
      first = place;
    }
  const auto tell = [&](u64 kind, const Payload& value) {
    write(UserRecord::event_update, update(kind, id_of(event, first), value));
  };
  const double factor = is_clock(attr) ? 1e-6 : scale;
  Payload number, unit;
  number.put(factor);
  unit.put_padded("msec", 8);
  if (is_clock(attr)) tell(perfdata::event_update_unit, unit);
  if (factor != 1) tell(perfdata::event_update_scale, number);
  if (!own.empty()) tell(perfdata::event_update_cpus, cpu_map(own));
}

void StatFileWriter::end_round(Round round, u64 ns, const std::vector<EventTotal>& events,
                               const std::vector<CpuTotals>& cpus) {
  for (std::size_t place = 0; place < places_.size(); ++place)
    for (u32 event = 0; event < events.size(); ++event)
      write_count(event, place, cpus.empty() ? events[event] : cpus[place].events[event]);
  Payload payload;
  payload.put(perfdata::StatRound{round == Round::last ? u64{1} : 0, ns});
  write(UserRecord::stat_round, payload);
}

void StatFileWriter::write_count(u32 event, std::size_t place, const EventTotal& total) {
  if (!total.supported || total.elsewhere) return;
  Payload payload;
  payload.put(perfdata::StatRecord{.id = id_of(event, place),
                                   .cpu = places_[place],
                                   .counted = total.counted,
                                   .enabled_ns = total.enabled_ns,
                                   .running_ns = total.running_ns});
  write(UserRecord::stat, payload);
}

void StatFileWriter::write(UserRecord type, const Payload& payload) {
  if (error_) return;
  if (Result<Done, Error> written = writer_.write(type, payload); !written.ok()) error_ = written.error();
}

Result<Done, Error> StatFileWriter::finish() {
  if (error_) return Failure(*error_);
  if (Result<Done, Error> kept = keep_old_file(options_.record_to); !kept.ok()) return kept;
  return writer_.finish();
}

}  // namespace pmusim
