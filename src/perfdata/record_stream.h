// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_RECORD_STREAM_H
#define PMUSIM_SRC_PERFDATA_RECORD_STREAM_H

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "perfdata/decompressor.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::perfdata {

/// The sentence "FILE: at offset N: WHAT".
Error broken_at(const std::string& file, u64 offset, std::string_view what);

/// A record at the end of a stream that is not all there.
struct CutRecord {
  u64 offset = 0;         ///< in the file
  u64 missing_bytes = 0;  ///< at least
};
std::string sentence_of(const CutRecord& cut);

/// The records of a stretch of bytes one after another, those within compressed ones too.
class RecordStream {
 public:
  /// Whether the last byte ends a record, or the stretch may have been cut anywhere.
  enum class End : u8 { of_record, anywhere };

  /// `offset` is where `bytes` stand in the file `name`. The bytes outlive the stream.
  RecordStream(std::string name, std::span<const std::byte> bytes, u64 offset, End end)
      : name_(std::move(name)), rest_(bytes), at_(offset), end_(end) {}

  /// Nothing after the last. Errors: a record has an impossible size, or ends early where none may.
  Result<std::optional<RecordView>, Error> next();
  const std::string& name() const { return name_; }
  /// What was left out at the end.
  const std::optional<CutRecord>& cut() const { return cut_; }

 private:
  using NextRecord = Result<std::optional<RecordView>, Error>;
  using Outcome = Result<Done, Error>;

  NextRecord next_stored();
  NextRecord next_plain();
  NextRecord with_bytes_behind(RecordView record);
  NextRecord end_at(CutRecord cut);
  Outcome decompress(const RecordView& record);
  std::span<const std::byte> take(u64 bytes);
  std::span<const std::byte> unread_plain() const { return std::span(plain_).subspan(plain_at_); }
  Failure<Error> broken(u64 offset, std::string_view what) const {
    return Failure(broken_at(name_, offset, what));
  }

  std::string name_;
  std::span<const std::byte> rest_;  ///< records not yet read
  u64 at_;                           ///< where they stand in the file
  End end_;
  std::optional<CutRecord> cut_;
  std::optional<Decompressor> decompressor_;
  std::vector<std::byte> plain_;  ///< decompressed, not yet read from plain_at_
  std::size_t plain_at_ = 0;
  u64 plain_offset_ = 0;
};

}  // namespace pmusim::perfdata

#endif
