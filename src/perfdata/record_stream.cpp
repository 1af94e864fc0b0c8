// SPDX-License-Identifier: MIT
#include "perfdata/record_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "perf/byte_writer.h"
#include "perfdata/byte_reader.h"
#include "perfdata/file_format.h"

namespace pmusim::perfdata {

using perf::RecordHeader;

Error broken_at(const std::string& file, u64 offset, std::string_view what) {
  return Error(fmt::format("{}: at offset {:#x}: {}", file, offset, what));
}

namespace {

bool is(const RecordView& record, UserRecord type) { return record.header.type == static_cast<u32>(type); }

bool is_compressed(const RecordView& record) {
  return is(record, UserRecord::compressed) || is(record, UserRecord::compressed2);
}

/// What a compressed record carries; nothing if it ends early.
std::optional<std::span<const std::byte>> compressed_bytes(const RecordView& record) {
  const auto payload = record.bytes.subspan(sizeof(RecordHeader));
  if (is(record, UserRecord::compressed)) return payload;
  ByteReader in(payload);
  const auto bytes = in.take_bytes(in.take<u64>());
  if (!in.ok()) return std::nullopt;
  return bytes;
}

/// How many bytes follow a record that its size does not count; nothing if the record ends before it says so.
std::optional<u64> bytes_behind(const RecordView& record) {
  ByteReader in(record.bytes.subspan(sizeof(RecordHeader)));
  u64 bytes = 0;
  if (is(record, UserRecord::auxtrace)) bytes = in.take<AuxArea>().bytes;
  if (is(record, UserRecord::tracing_data)) bytes = perf::padded(in.take<u32>());
  if (!in.ok()) return std::nullopt;
  return bytes;
}

/// Of the record that `rest` begins with; 0: it is whole.
u64 missing_bytes(std::span<const std::byte> rest) {
  RecordHeader header;
  if (rest.size() < sizeof header) return sizeof header - rest.size();
  std::memcpy(&header, rest.data(), sizeof header);
  return header.size - std::min<std::size_t>(header.size, rest.size());
}

}  // namespace

std::string sentence_of(const CutRecord& cut) {
  return fmt::format("at offset {:#x}: the last record is cut; missing bytes: {}", cut.offset,
                     cut.missing_bytes);
}

std::span<const std::byte> RecordStream::take(u64 bytes) {
  const auto taken = rest_.first(static_cast<std::size_t>(bytes));
  rest_ = rest_.subspan(taken.size());
  at_ += bytes;
  return taken;
}

Result<std::optional<RecordView>, Error> RecordStream::next() {
  while (true) {
    auto record = next_plain();
    if (!record || *record) return record;
    record = next_stored();
    if (!record) return record;
    if (!*record && plain_at_ < plain_.size() && !cut_)
      return end_at({plain_offset_, missing_bytes(unread_plain())});
    if (!*record || !is_compressed(**record)) return record;
    if (auto done = decompress(**record); !done) return Failure(done.error());
  }
}

RecordStream::NextRecord RecordStream::next_stored() {
  if (rest_.empty()) return std::optional<RecordView>();
  RecordView record;
  record.offset = at_;
  if (const u64 missing = missing_bytes(rest_); missing != 0) return end_at({at_, missing});
  std::memcpy(&record.header, rest_.data(), sizeof record.header);
  const u16 size = record.header.size;
  if (size < sizeof record.header) return broken(at_, fmt::format("a record of {} bytes", size));
  record.bytes = take(size);
  return with_bytes_behind(record);
}

RecordStream::NextRecord RecordStream::end_at(CutRecord cut) {
  if (end_ == End::of_record) return Failure(Error(fmt::format("{}: {}", name_, sentence_of(cut))));
  cut_ = cut;
  rest_ = {};
  return std::optional<RecordView>();
}

RecordStream::NextRecord RecordStream::with_bytes_behind(RecordView record) {
  const auto bytes = bytes_behind(record);
  const std::string_view name = is(record, UserRecord::auxtrace) ? "AUX data" : "tracing data";
  if (!bytes)
    return broken(record.offset, fmt::format("a record of {} of {} bytes", name, record.header.size));
  const auto there = rest_;
  if (*bytes <= there.size()) {
    record.aux = take(*bytes);
    return std::optional(record);
  }
  auto ended = end_at({record.offset, *bytes - there.size()});
  if (!ended || !is(record, UserRecord::auxtrace)) return ended;
  record.aux = there;  // packets up to the cut can be decoded
  return std::optional(record);
}

/// Nothing when the record goes on in the next compressed piece.
RecordStream::NextRecord RecordStream::next_plain() {
  const auto rest = unread_plain();
  RecordView record;
  record.offset = plain_offset_;
  if (missing_bytes(rest) != 0) return std::optional<RecordView>();
  std::memcpy(&record.header, rest.data(), sizeof record.header);
  if (record.header.size < sizeof record.header)
    return broken(plain_offset_, fmt::format("a compressed record of {} bytes", record.header.size));
  record.bytes = rest.first(record.header.size);
  plain_at_ += record.header.size;
  return std::optional(record);
}

RecordStream::Outcome RecordStream::decompress(const RecordView& record) {
  const auto piece = compressed_bytes(record);
  if (!piece) return broken(record.offset, "a compressed record with less data than it says");
  if (!decompressor_) decompressor_.emplace();
  plain_.erase(plain_.begin(), plain_.begin() + static_cast<std::ptrdiff_t>(plain_at_));
  plain_at_ = 0;
  plain_offset_ = record.offset;
  auto appended = decompressor_->append_to(plain_, *piece);
  if (!appended) return broken(record.offset, appended.error().message);
  return Done{};
}

}  // namespace pmusim::perfdata
