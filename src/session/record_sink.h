// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_RECORD_SINK_H
#define PMUSIM_SRC_SESSION_RECORD_SINK_H

#include <span>
#include <string>

#include "pmusim/session/record.h"

namespace pmusim {

/// Where the records of a replay go: events first, in the order of opening, then records.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// `members` consecutive events from the `leader`th are one group. Before they are added.
  virtual void add_group(u32 leader, u32 members) = 0;
  /// `ids`: one for each of whom the event was opened for.
  virtual Result<Done, Error> add_event(const perf::Attr& attr, const std::string& name,
                                        std::span<const u64> ids) = 0;
  /// One of the kernel comes before all records.
  virtual Result<Done, Error> add_mapping(const trace::Mapping& mapping) = 0;
  virtual Result<Done, Error> write(std::span<const std::byte> whole_records) = 0;
  /// No record from here on is older than one written so far.
  virtual Result<Done, Error> end_round() = 0;
  /// Written so far.
  virtual u64 record_bytes() const = 0;
};

/// Opens the events on the session and replays it. Errors: those of record(), and those of the sink.
Result<RecordSummary, Error> replay_into(RecordSink& sink, Session& session, const RecordOptions& options);

}  // namespace pmusim

#endif
