#ifndef PMUSIM_PERFDATA_SAMPLES_H
#define PMUSIM_PERFDATA_SAMPLES_H

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/perfdata/sample_parser.h"

namespace pmusim::perfdata {

/// What the side-band records of a file say of threads and mappings, up to some moment.
class Processes {
 public:
  struct Mapping {
    u64 start = 0, end = 0, page_offset = 0;  ///< [start, end)
    std::string name;
  };

  /// A record of any type: those that say nothing of threads or mappings, or do not parse, are left out.
  void take(const RecordView& record);
  /// Name of the thread; ":-1" without one, ":TID" for one that was never named, as perf says it.
  std::string command_of(u32 tid) const;
  /// The mapping of a process that an address is in; nullptr if there is none.
  const Mapping* mapping_at(u32 pid, u64 address) const;

 private:
  void map(const MmapRecordView& mapping);
  void name(const CommRecordView& command, bool exec);
  void fork(const TaskRecordView& task);

  std::map<u32, std::string> commands_;
  std::map<u32, std::map<u64, Mapping>> mappings_;  // by process and start
};

/// A sample with the event that it is of.
struct EventSample {
  const EventDescription& event;  ///< of the file; valid as long as the reader
  SampleRecord sample;
  u64 offset = 0;  ///< in the file
};

/// The samples of a perf.data file in the order of their times, as perf shows them, with what ran then.
///
///     auto samples = SampleReader::open("perf.data");
///     while (auto next = samples->next(); next && *next)
///       use((*next)->sample.ip, samples->processes().command_of((*next)->sample.who.tid));
///
/// Records that have the same time stay in file order. Memory grows with what a file holds between two
/// FINISHED_ROUND records.
class SampleReader {
 public:
  /// Errors: those of Reader.
  static Result<SampleReader, Error> open(const std::filesystem::path& path);
  explicit SampleReader(Reader file);
  SampleReader(SampleReader&&) noexcept;
  SampleReader& operator=(SampleReader&&) noexcept;
  ~SampleReader();

  const Reader& file() const;
  /// As of the latest sample.
  const Processes& processes() const;
  /// The next sample; nothing after the last. Errors: the file is broken, a sample ends within a field.
  Result<std::optional<EventSample>, Error> next();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace pmusim::perfdata

#endif
