// SPDX-License-Identifier: MIT
#include "perfdata/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/output_file.h"
#include "perf/byte_writer.h"
#include "perfdata/compressor.h"
#include "perfdata/features.h"
#include "perfdata/record_scan.h"

namespace pmusim::perfdata {

namespace {

using Outcome = Result<Done, Error>;

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// True when `attr` says something that a structure of `bytes` bytes has no room for.
bool exceeds(const perf::Attr& attr, u32 bytes) {
  const auto beyond = bytes_of(attr).subspan(bytes);
  return std::ranges::any_of(beyond, [](std::byte b) { return b != std::byte{0}; });
}

std::size_t record_bytes_of(const Payload& payload) {
  return perf::padded(sizeof(perf::RecordHeader) + payload.size());
}

/// A record of a tool; it must fit in one.
Payload user_record(UserRecord type, const Payload& payload) {
  const std::size_t bytes = record_bytes_of(payload);
  Payload record;
  record.put(perf::RecordHeader{static_cast<u32>(type), 0, static_cast<u16>(bytes)});
  record.put_bytes(payload.bytes());
  record.put_zeros(bytes - record.size());
  return record;
}

}  // namespace

class Writer::State {
 public:
  State(OutputFile file, Options options) : file_(std::move(file)), form_(options.form) {
    description_.metadata = std::move(options.metadata);
    description_.attr_bytes = options.attr_bytes;
    description_.simd = options.simd;
    description_.counts = options.counts;
    time_conversion_ = options.time_conversion;
    if (options.compression == Compression::zstd) start_compression(options.compression_level);
  }

  Outcome add_event(const perf::Attr& attr, std::string name, std::span<const u64> ids);
  Outcome write(std::span<const std::byte> records);
  Outcome write_aux(AuxArea area, std::span<const std::byte> bytes);
  Outcome write(UserRecord type, const Payload& payload);
  Outcome finish();

  Description& description() { return description_; }
  u64 record_bytes() const { return record_bytes_; }

 private:
  bool started() const { return scan_.has_value(); }
  void start_compression(int level);
  Payload compression_feature() const;
  Outcome start();
  Outcome start_file();
  Outcome start_pipe();
  Outcome write_time_conversion();
  Outcome write_data(std::span<const std::byte> records);
  Outcome write_chunk();
  Outcome finish_file();
  Outcome write_new_build_ids();
  Outcome write_user_record(UserRecord type, const Payload& payload);
  Outcome keep(Outcome outcome) {
    if (!outcome && !error_) error_ = outcome.error();
    return outcome;
  }

  OutputFile file_;
  Form form_;
  Description description_;
  std::optional<TimeConversion> time_conversion_;
  FileHeader header_;
  std::optional<RecordScan> scan_;
  std::optional<Compressor> compressor_;
  std::vector<std::byte> chunk_;  ///< input of the next COMPRESSED record
  std::size_t build_ids_written_ = 0;
  u64 record_bytes_ = 0;
  std::optional<Error> error_;
};

Outcome Writer::State::add_event(const perf::Attr& attr, std::string name, std::span<const u64> ids) {
  if (started()) return Failure(Error(fmt::format("event {}: added after the first record", name)));
  if (exceeds(attr, description_.attr_bytes))
    return Failure(
        Error(fmt::format("event {}: it uses fields that an attribute of {} bytes does not have; "
                          "choose a larger attribute size",
                          name, description_.attr_bytes)));
  description_.events.push_back({attr, std::move(name), {ids.begin(), ids.end()}});
  return Done{};
}

void Writer::State::start_compression(int level) {
  compressor_.emplace(level);
  chunk_.reserve(Compressor::chunk_bytes);
}

/// COMPRESSED: version, type, level, ratio, mmap_len.
Payload Writer::State::compression_feature() const {
  const u64 stored = file_.position() - header_.data.offset;
  Payload payload;
  payload.put(u32{1});
  payload.put(compression_zstd);
  payload.put(static_cast<u32>(compressor_->level()));
  payload.put(static_cast<u32>(form_ == Form::pipe || stored == 0 ? 1 : record_bytes_ / stored));
  payload.put(Compressor::reader_buffer_bytes);
  return payload;
}

Outcome Writer::State::start() {
  scan_.emplace(description_.events.empty() ? 0 : description_.events.front().attr.sample_type);
  if (auto begun = form_ == Form::file ? start_file() : start_pipe(); !begun) return begun;
  return time_conversion_ ? write_time_conversion() : Done{};
}

/// In its short form, which readers before Linux 5.10 know too.
Outcome Writer::State::write_time_conversion() {
  Payload payload;
  payload.put(time_conversion_->shift);
  payload.put(time_conversion_->multiplier);
  payload.put(time_conversion_->zero);
  return write_data(user_record(UserRecord::time_conversion, payload).bytes());
}

Outcome Writer::State::write(UserRecord type, const Payload& payload) {
  if (scan_ && !scan_->between_records())
    return keep(Failure(Error(fmt::format("record {}: a record of type {} begins within it", scan_->records(),
                                          static_cast<u32>(type)))));
  return write(user_record(type, payload).bytes());
}

/// Header (completed at the end), ids, attributes; the data section follows.
Outcome Writer::State::start_file() {
  const u64 entry = description_.attr_bytes + sizeof(Section);
  Payload ids, attrs;
  for (const auto& event : description_.events) {
    attrs.put_bytes(attr_image(event.attr, description_).bytes());
    attrs.put(Section{sizeof(FileHeader) + ids.size(), event.ids.size() * sizeof(u64)});
    ids.put_bytes(std::as_bytes(std::span(event.ids)));
  }
  header_.attr_size = entry;
  header_.attrs = {sizeof(FileHeader) + ids.size(), attrs.size()};
  header_.data.offset = header_.attrs.offset + attrs.size();
  for (const auto part : {bytes_of(header_), ids.bytes(), attrs.bytes()})
    if (auto written = file_.write(part); !written) return written;
  return Done{};
}

Outcome Writer::State::start_pipe() {
  if (auto written = file_.write(bytes_of(PipeHeader{})); !written) return written;
  for (const auto& event : description_.events) {
    Payload attr = attr_image(event.attr, description_);
    attr.put_bytes(std::as_bytes(std::span(event.ids)));
    if (auto written = write_user_record(UserRecord::header_attr, attr); !written) return written;
  }
  if (compressor_) description_.compression = compression_feature();
  Features features = make_features(description_);
  features.erase(Feature::build_id);
  for (const auto& [feature, content] : features) {
    Payload payload;
    payload.put(static_cast<u64>(feature));
    payload.put_bytes(content.bytes());
    if (auto written = write_user_record(UserRecord::header_feature, payload); !written) return written;
  }
  Payload end;
  end.put(last_feature_marker);
  if (auto written = write_user_record(UserRecord::header_feature, end); !written) return written;
  for (const auto& event : description_.events) {
    if (event.ids.empty()) continue;
    Payload update;
    update.put(event_update_name);
    update.put(event.ids.front());
    update.put_padded(event.name, perf::padded_name(event.name));
    if (auto written = write_user_record(UserRecord::event_update, update); !written) return written;
  }
  return write_new_build_ids();
}

Outcome Writer::State::write_user_record(UserRecord type, const Payload& payload) {
  const std::size_t bytes = record_bytes_of(payload);
  if (bytes > 65528)
    return Failure(Error(
        fmt::format("the description of events does not fit in a stream: a record of {} bytes", bytes)));
  return file_.write(user_record(type, payload).bytes());
}

Outcome Writer::State::write(std::span<const std::byte> records) {
  if (error_) return Failure(*error_);
  if (!started())
    if (auto begun = keep(start()); !begun) return begun;
  if (!scan_->feed(records))
    return keep(
        Failure(Error(fmt::format("record {}: its size is below that of a header", scan_->records()))));
  record_bytes_ += records.size();
  return keep(write_data(records));
}

Outcome Writer::State::write_aux(AuxArea area, std::span<const std::byte> bytes) {
  if (auto begun = write({}); !begun) return begun;
  if (!scan_->between_records())
    return keep(Failure(Error(fmt::format("record {}: AUX data within it", scan_->records()))));
  if (compressor_)
    if (auto written = keep(write_chunk()); !written) return written;
  area.bytes = bytes.size();
  Payload payload;
  payload.put(area);
  if (auto written = keep(file_.write(user_record(UserRecord::auxtrace, payload).bytes())); !written)
    return written;
  record_bytes_ += bytes.size();
  return keep(file_.write(bytes));
}

Outcome Writer::State::write_data(std::span<const std::byte> records) {
  if (!compressor_) return file_.write(records);
  while (!records.empty()) {
    const auto part = records.first(std::min(records.size(), Compressor::chunk_bytes - chunk_.size()));
    chunk_.insert(chunk_.end(), part.begin(), part.end());
    records = records.subspan(part.size());
    if (chunk_.size() < Compressor::chunk_bytes) continue;
    if (auto written = write_chunk(); !written) return written;
  }
  return Done{};
}

Outcome Writer::State::write_chunk() {
  if (chunk_.empty()) return Done{};
  auto written = file_.write(compressor_->compress(chunk_));
  chunk_.clear();
  return written;
}

Outcome Writer::State::finish() {
  if (error_) return Failure(*error_);
  if (!started())
    if (auto begun = keep(start()); !begun) return begun;
  if (!scan_->between_records())
    return keep(Failure(Error(fmt::format("record {}: it ends early", scan_->records()))));
  if (compressor_)
    if (auto written = keep(write_chunk()); !written) return written;
  if (auto done = keep(form_ == Form::file ? finish_file() : write_new_build_ids()); !done) return done;
  return keep(file_.commit());
}

/// The feature table stands right behind the data, the features behind the table.
Outcome Writer::State::finish_file() {
  header_.data.size = file_.position() - header_.data.offset;
  description_.sample_times = scan_->sample_times();
  if (compressor_) description_.compression = compression_feature();
  const Features features = make_features(description_);
  u64 offset = file_.position() + features.size() * sizeof(Section);
  for (const auto& [feature, payload] : features) {
    const auto number = static_cast<unsigned>(feature);
    header_.features[number / 64] |= bit(number % 64);
    if (auto written = file_.write(bytes_of(Section{offset, payload.size()})); !written) return written;
    offset += payload.size();
  }
  for (const auto& [feature, payload] : features)
    if (auto written = file_.write(payload.bytes()); !written) return written;
  return file_.overwrite(0, bytes_of(header_));
}

/// A stream has build ids as records: those known at its start there, those learned later at its end.
Outcome Writer::State::write_new_build_ids() {
  for (; build_ids_written_ < description_.build_ids.size(); ++build_ids_written_) {
    const auto& build_id = description_.build_ids[build_ids_written_];
    const Payload entry = build_id_entry(build_id, static_cast<u32>(UserRecord::build_id));
    if (auto written = file_.write(entry.bytes()); !written) return written;
  }
  return Done{};
}

// --- the handle

Result<Writer, Error> Writer::create(const std::filesystem::path& path, Options options) {
  if (std::ranges::find(attr_sizes, options.attr_bytes) == attr_sizes.end())
    return Failure(
        Error(fmt::format("{}: an attribute of {} bytes is none of the sizes from 64 to 176 that "
                          "perf_event_attr ever had",
                          path.string(), options.attr_bytes)));
  auto file = path == "-" ? OutputFile::standard_output() : OutputFile::create(path, options.readers);
  if (!file) return Failure(file.error());
  if (options.form == Form::file && !file->seekable())
    return Failure(Error(fmt::format("{}: is a stream; only the pipe form can go there", path.string())));
  return Writer(std::make_unique<State>(std::move(*file), std::move(options)));
}

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

Result<Done, Error> Writer::add_event(const perf::Attr& attr, std::string name, std::span<const u64> ids) {
  return state_->add_event(attr, std::move(name), ids);
}

void Writer::add_group(std::string name, u32 leader, u32 members) {
  state_->description().groups.push_back({std::move(name), leader, members});
}

void Writer::add_build_id(std::string path, std::span<const std::byte> id, Space space) {
  state_->description().build_ids.push_back({std::move(path), {id.begin(), id.end()}, space});
}

Result<Done, Error> Writer::write(std::span<const std::byte> records) { return state_->write(records); }
Result<Done, Error> Writer::write_aux(AuxArea area, std::span<const std::byte> bytes) {
  return state_->write_aux(area, bytes);
}
Result<Done, Error> Writer::write(UserRecord type, const Payload& payload) {
  return state_->write(type, payload);
}
Result<Done, Error> Writer::end_round() { return state_->write(UserRecord::finished_round, {}); }
Result<Done, Error> Writer::finish() { return state_->finish(); }
u64 Writer::record_bytes() const { return state_->record_bytes(); }

}  // namespace pmusim::perfdata
