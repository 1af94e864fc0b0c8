// SPDX-License-Identifier: MIT
#include "sweep_tables.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "csv.h"
#include "sqlite_database.h"

namespace pmusim::tools {

namespace {

template <class T>
std::string field(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

/// Fields of one line behind those of the replay.
struct Columns {
  std::string names, values;

  void add(const SweepJob& job, const std::string& name, const std::string& value) {
    names += ',' + csv_field(printable(job.set_name + '.' + name));
    values += ',' + value;
  }
  void add(const SweepResult& result) {
    if (result.job->metrics.empty())
      for (const SweepResult::Count& count : result.counts) add(*result.job, count.event, field(count.count));
    for (const SweepResult::Value& value : result.metrics) add(*result.job, value.metric, field(value.value));
  }
};

/// Results of the replay that the first of them is of.
std::size_t size_of_replay(std::span<const SweepResult> results) {
  std::size_t size = 1;
  while (size < results.size() && results[size].job->replay_name() == results[0].job->replay_name()) ++size;
  return size;
}

SqliteRows::Value reason_of(const SweepResult::Count& count) {
  if (count.count) return std::optional<u64>();
  return std::string_view(count.reason);
}

constexpr const char* tables =
    "CREATE TABLE runs (id INTEGER PRIMARY KEY, trace TEXT NOT NULL, trace_bytes INTEGER NOT NULL,"
    " model TEXT NOT NULL, core TEXT NOT NULL, instructions INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL,"
    " UNIQUE (trace, model));"
    "CREATE TABLE counts (run INTEGER NOT NULL REFERENCES runs (id), event_set TEXT NOT NULL,"
    " event TEXT NOT NULL, count INTEGER, reason TEXT);"
    "CREATE TABLE metrics (run INTEGER NOT NULL REFERENCES runs (id), metric TEXT NOT NULL, value REAL,"
    " unit TEXT NOT NULL);";

}  // namespace

std::string long_table(std::span<const SweepResult> results) {
  std::string lines = "trace,model,set,event,count,instructions,elapsed_ns\n";
  for (const SweepResult& result : results) {
    const auto line = [&](const std::string& name, const std::string& value) {
      const SweepJob& job = *result.job;
      lines += fmt::format("{},{},{},{},{},{},{}\n", job.trace_name, job.model_name, job.set_name,
                           csv_field(printable(name)), value, result.instructions, result.elapsed_ns);
    };
    for (const SweepResult::Count& count : result.counts) line(count.event, field(count.count));
    for (const SweepResult::Value& value : result.metrics) line(value.metric, field(value.value));
  }
  return lines;
}

std::string wide_table(std::span<const SweepResult> results) {
  std::string names, lines;
  while (!results.empty()) {
    const std::span<const SweepResult> replay = results.first(size_of_replay(results));
    Columns columns;
    for (const SweepResult& result : replay) columns.add(result);
    if (names.empty()) names = std::move(columns.names);
    lines += fmt::format("{},{},{},{}{}\n", replay[0].job->trace_name, replay[0].job->model_name,
                         replay[0].instructions, replay[0].elapsed_ns, columns.values);
    results = results.subspan(replay.size());
  }
  return fmt::format("trace,model,instructions,elapsed_ns{}\n{}", names, lines);
}

std::vector<std::byte> database(std::span<const SweepResult> results) {
  SqliteDatabase database;
  database.execute(tables);
  SqliteRows runs(database, "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)");
  SqliteRows counts(database, "INSERT INTO counts VALUES (?, ?, ?, ?, ?)");
  SqliteRows metrics(database, "INSERT INTO metrics VALUES (?, ?, ?, ?)");
  const SweepJob* last = nullptr;
  u64 run = 0;
  for (const SweepResult& result : results) {
    const SweepJob& job = *result.job;
    if (last == nullptr || last->replay_name() != job.replay_name())
      runs.add({++run, job.trace_name, job.trace_bytes, job.model_name, text_of(job.core),
                result.instructions, result.elapsed_ns});
    last = &job;
    for (const SweepResult::Count& count : result.counts)
      counts.add({run, job.set_name, count.event, count.count, reason_of(count)});
    for (const SweepResult::Value& value : result.metrics)
      metrics.add({run, value.metric, value.value, value.unit});
  }
  return database.bytes();
}

}  // namespace pmusim::tools
