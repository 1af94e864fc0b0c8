// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PERFDATA_READER_H
#define PMUSIM_PERFDATA_READER_H

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/perfdata/description.h"

/// Any perf.data file, ours or perf's, record by record:
/// @code
/// auto file = perfdata::Reader::open("perf.data");
/// while (auto record = file->next()) {
///   if (!record->has_value()) break;
///   const u32 type = (*record)->header.type;
/// }
/// @endcode
/// Samples taken apart are in perfdata/samples.h.
namespace pmusim::perfdata {

/// One record of a file. `bytes` starts with the header and is valid until the next call of next().
struct RecordView {
  perf::RecordHeader header;
  std::span<const std::byte> bytes;
  u64 offset = 0;                  ///< in the file; of the COMPRESSED record if it came out of one
  std::span<const std::byte> aux;  ///< of an AUXTRACE record: the bytes behind it
};

/// Reads perf.data in either form, compressed or not. Any bytes may be in the file: what does not make sense
/// is an Error with the offset, and memory stays within a few times the size of the file.
class Reader {
 public:
  static Result<Reader, Error> open(const std::filesystem::path& path);
  /// The same for bytes that are already in memory; `name` is for messages.
  static Result<Reader, Error> from_memory(std::string name, std::vector<std::byte> bytes);

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  Form form() const;
  /// In the pipe form: as far as the stream has told before its first other record.
  const std::vector<EventDescription>& events() const;
  const Metadata& metadata() const;
  const std::vector<Group>& groups() const;
  /// In the pipe form complete only after the last record.
  const std::vector<BuildId>& build_ids() const;
  std::optional<std::pair<u64, u64>> sample_times() const;

  /// The next record in file order, decompressed; nothing after the last.
  Result<std::optional<RecordView>, Error> next();

  /// The event that a sample or the trailer of a record belongs to; nullptr if its id is unknown.
  const EventDescription* event_of(const RecordView& record) const;

 private:
  class State;
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pmusim::perfdata

#endif
