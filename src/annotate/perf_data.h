// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_PERF_DATA_H
#define PMUSIM_SRC_ANNOTATE_PERF_DATA_H

#include <string>
#include <vector>

#include "annotate/profile.h"
#include "perfdata/sample_parser.h"
#include "pmusim/base/types.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::annotate {

/// Mappings, forks and execs of a file in order of time, whatever order the file has them in: a file of
/// several CPUs has one stretch per buffer.
class ProcessHistory {
 public:
  explicit ProcessHistory(const Options& options) : options_(options) {}

  /// Takes any record; those of no interest are ignored.
  Result<Done, Error> take(const perfdata::RecordView& record, u64 time);
  /// To be called after the last record. Build ids of the file stand in where mappings have none.
  void tell(symbols::AddressSpaces& spaces, const std::vector<perfdata::BuildId>& build_ids);

 private:
  struct Moment {
    enum class Kind : u8 { map, exec, fork };
    Kind kind = Kind::map;
    u64 time = 0;
    u32 pid = 0, parent = 0;
    u64 start = 0, end = 0, file_offset = 0;
    u32 file = 0;  ///< in files_
  };
  Result<Done, Error> take_mapping(const perfdata::RecordView& record, u64 time);
  symbols::FileIdentity identity_of(const perfdata::MmapRecordView& mapping) const;

  const Options& options_;
  std::vector<Moment> moments_;
  std::vector<symbols::FileIdentity> files_;
  std::map<symbols::FileIdentity, u32> file_index_;
};

class CommandHistory;

/// When a record was written: its time, or its place in the file if the events do not sample time.
u64 time_of(const perfdata::RecordView& record, const perfdata::EventDescription* event, u64 order);

/// Calls visit(record, number) for every record; ends with the first error of either side.
template <class Visit>
Result<Done, Error> for_each_record(perfdata::Reader& reader, Visit visit) {
  for (u64 order = 1;; ++order) {
    const auto record = reader.next();
    if (!record) return Failure(record.error());
    if (!*record) return Done{};
    if (auto taken = visit(**record, order); !taken) return taken;
  }
}

/// Reads a file to its end for what its processes have mapped, and what its tasks were called if that is
/// wanted. Errors: the file is broken.
Result<Done, Error> learn_processes(symbols::AddressSpaces& spaces, perfdata::Reader& reader,
                                    const Options& options, CommandHistory* commands = nullptr);

/// What is wrong with a record's fields is said without the file's name, what is wrong with its bytes with
/// it: the error with the name.
Error named(Error error, const std::string& file);

/// What the events of a file mean to a profile.
std::vector<SampledEvent> sampled_events(const perfdata::Reader& reader);
/// Names of the events whose counts the LBR logs, in the order of the fields.
std::vector<std::string> logged_events(const perfdata::Reader& reader);
/// A sentence for each event whose branch stacks are no history, or whose call stacks are not unwound.
std::vector<std::string> notes_on_events(const perfdata::Reader& reader);

}  // namespace pmusim::annotate

#endif
