// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_STAT_FILE_WRITER_H
#define PMUSIM_SRC_SESSION_STAT_FILE_WRITER_H

#include <optional>
#include <string>
#include <vector>

#include "perfdata/writer.h"
#include "pmusim/session/stat.h"
#include "session/counted_events.h"

namespace pmusim {

/// Counts as `perf stat record` writes them, for `perf stat report`: an event with an id for each CPU, or for
/// the program, and rounds of counts since the beginning.
class StatFileWriter {
 public:
  /// Errors: the file cannot be written.
  static Result<StatFileWriter, Error> create(const Session& session, const StatOptions& options,
                                              const CountedEvents& events);

  enum class Round : u8 { interval, last };
  /// `events`, and on CPUs `cpus`: counts up to perf time `ns`. What goes wrong is said by finish().
  void end_round(Round round, u64 ns, const std::vector<EventTotal>& events,
                 const std::vector<CpuTotals>& cpus);
  Result<Done, Error> finish();

 private:
  StatFileWriter(perfdata::Writer writer, const StatOptions& options)
      : writer_(std::move(writer)), options_(options) {}
  Result<Done, Error> add_events(const CountedEvents& events);
  void describe(const Session& session, const CountedEvents& events);
  void describe(u32 event, const perf::Attr& attr, unsigned scale, const std::vector<CpuTotals>& own_cpus);
  void write_count(u32 event, std::size_t place, const EventTotal& total);
  u64 id_of(u32 event, std::size_t place) const { return 1 + event * places_.size() + place; }
  void write(perfdata::UserRecord type, const perfdata::Payload& payload);

  perfdata::Writer writer_;
  const StatOptions& options_;
  std::vector<i32> places_;  // CPUs; -1 alone: the program
  std::optional<Error> error_;
};

}  // namespace pmusim

#endif
