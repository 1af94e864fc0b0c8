// SPDX-License-Identifier: MIT
#include "pmusim/perfdata/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/input_file.h"
#include "perfdata/byte_reader.h"
#include "perfdata/decompressor.h"
#include "perfdata/feature_parser.h"
#include "perfdata/sample_parser.h"

namespace pmusim::perfdata {

using perf::RecordHeader;
using Outcome = Result<Done, Error>;
using NextRecord = Result<std::optional<RecordView>, Error>;

class Reader::State {
 public:
  State(std::string name, std::vector<std::byte> bytes) : name_(std::move(name)), file_(std::move(bytes)) {
    description_.metadata = {.arch = "", .cpus = 0};
  }

  Outcome read_header();
  NextRecord next();
  const EventDescription* event_of(const RecordView& record) const;
  Form form() const { return form_; }
  const Description& description() const { return description_; }

 private:
  Outcome read_file_header();
  Outcome read_attrs(const FileHeader& header);
  Outcome read_features(const FileHeader& header);
  Outcome read_stream_start();
  NextRecord next_raw();
  NextRecord next_plain();
  Outcome take_aux(RecordView& record);
  Outcome decompress(const RecordView& record);
  Outcome take_header_record(const RecordView& record);
  Outcome take_attr(std::span<const std::byte> payload);
  void take_update(std::span<const std::byte> payload);
  void index_last_event();
  std::span<const std::byte> section(const Section& s) const;
  template <class... Arguments>
  Failure<Error> broken(u64 offset, fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    return Failure(Error(fmt::format("{}: at offset {:#x}: {}", name_, offset,
                                     fmt::format(text, std::forward<Arguments>(arguments)...))));
  }

  std::string name_;
  std::vector<std::byte> file_;
  Form form_ = Form::file;
  Description description_;
  std::unordered_map<u64, std::size_t> event_of_id_;
  u64 at_ = 0, end_ = 0;  // records not yet read
  std::optional<RecordView> pushed_back_;
  std::optional<Decompressor> decompressor_;
  std::vector<std::byte> plain_;  // decompressed, not yet read from plain_at_
  std::size_t plain_at_ = 0;
  u64 plain_offset_ = 0;
};

namespace {

bool is_header_record(u32 type) {
  return type == static_cast<u32>(UserRecord::header_attr) ||
         type == static_cast<u32>(UserRecord::build_id) ||
         type == static_cast<u32>(UserRecord::event_update) ||
         type == static_cast<u32>(UserRecord::header_feature);
}

}  // namespace

std::span<const std::byte> Reader::State::section(const Section& s) const {
  if (s.offset > file_.size() || s.size > file_.size() - s.offset) return {};
  return std::span(file_).subspan(static_cast<std::size_t>(s.offset), static_cast<std::size_t>(s.size));
}

Outcome Reader::State::read_header() {
  ByteReader in(file_);
  const auto start = in.take<PipeHeader>();
  if (!in.ok()) return broken(0, "{} bytes are too few for a header", file_.size());
  if (start.magic != magic) return broken(0, "no PERFILE2 mark: not a perf.data file of this byte order");
  if (start.size == sizeof(PipeHeader)) return read_stream_start();
  if (start.size == sizeof(FileHeader)) return read_file_header();
  return broken(8, "header size {}; expected {} (file) or {} (stream)", start.size, sizeof(FileHeader),
                sizeof(PipeHeader));
}

Outcome Reader::State::read_file_header() {
  ByteReader in(file_);
  const auto header = in.take<FileHeader>();
  if (!in.ok()) return broken(0, "the file ends within its header");
  if (header.data.size == 0 && header.data.offset == 0)
    return broken(40, "no data section: the file was not finished");
  if (section(header.data).size() != header.data.size)
    return broken(40, "data section {:#x} + {:#x} bytes lies outside the file of {:#x} bytes",
                  header.data.offset, header.data.size, file_.size());
  at_ = header.data.offset;
  end_ = header.data.offset + header.data.size;
  if (auto attrs = read_attrs(header); !attrs) return attrs;
  if (auto features = read_features(header); !features) return features;
  return Done{};
}

Outcome Reader::State::read_attrs(const FileHeader& header) {
  const auto all = section(header.attrs);
  if (all.size() != header.attrs.size) return broken(24, "the attribute section lies outside the file");
  if (header.attr_size < 64 + sizeof(Section) || header.attr_size > 4096)
    return broken(16, "attribute entries of {} bytes", header.attr_size);
  u64 all_ids = 0;
  for (std::size_t i = 0; i + header.attr_size <= all.size();
       i += static_cast<std::size_t>(header.attr_size)) {
    const u64 offset = header.attrs.offset + i;
    const auto entry = all.subspan(i, static_cast<std::size_t>(header.attr_size));
    const auto attr = parse_attr(entry.first(entry.size() - sizeof(Section)));
    if (!attr) return broken(offset, "attr.size does not fit in an entry of {} bytes", header.attr_size);
    Section ids;
    std::memcpy(&ids, entry.data() + entry.size() - sizeof ids, sizeof ids);
    const auto id_bytes = section(ids);
    if (id_bytes.size() != ids.size) return broken(offset, "the ids of this event lie outside the file");
    all_ids += ids.size;
    if (all_ids > file_.size()) return broken(offset, "the ids of the events are larger than the file");
    description_.events.push_back({*attr, "", ByteReader(id_bytes).take_all<u64>(ids.size / sizeof(u64))});
    index_last_event();
  }
  return Done{};
}

/// A row of the table for each feature, right behind the data.
Outcome Reader::State::read_features(const FileHeader& header) {
  u64 row = end_;
  for (unsigned number = 0; number < 256; ++number) {
    if ((header.features[number / 64] & bit(number % 64)) == 0) continue;
    ByteReader in(section({row, sizeof(Section)}));
    const auto where = in.take<Section>();
    if (!in.ok()) return broken(row, "the feature table ends early");
    const auto payload = section(where);
    if (payload.size() != where.size) return broken(row, "feature {} lies outside the file", number);
    if (!parse_feature(description_, static_cast<Feature>(number), payload))
      return broken(where.offset, "feature {} does not parse", number);
    row += sizeof(Section);
  }
  return Done{};
}

/// A stream describes itself in its first records.
Outcome Reader::State::read_stream_start() {
  form_ = Form::pipe;
  at_ = sizeof(PipeHeader);
  end_ = file_.size();
  auto first = next();
  if (!first) return Failure(first.error());
  pushed_back_ = *first;
  return Done{};
}

NextRecord Reader::State::next() {
  if (pushed_back_) return std::exchange(pushed_back_, std::nullopt);
  while (true) {
    auto record = plain_at_ < plain_.size() ? next_plain() : NextRecord(std::optional<RecordView>());
    if (record && !*record) {
      record = next_raw();
      if (record && *record && (*record)->header.type == static_cast<u32>(UserRecord::compressed)) {
        if (auto done = decompress(**record); !done) return Failure(done.error());
        continue;
      }
      const bool cut = record && !*record && plain_at_ < plain_.size();
      if (cut) return broken(plain_offset_, "the compressed records end within a record");
    }
    if (!record || !*record) return record;
    if (form_ == Form::file || !is_header_record((*record)->header.type)) return record;
    if (auto taken = take_header_record(**record); !taken) return Failure(taken.error());
  }
}

NextRecord Reader::State::next_raw() {
  if (at_ == end_) return std::optional<RecordView>();
  RecordView record;
  record.offset = at_;
  ByteReader in(section({at_, end_ - at_}));
  record.header = in.take<RecordHeader>();
  if (!in.ok()) return broken(at_, "{} bytes are too few for a record", end_ - at_);
  if (record.header.size < sizeof(RecordHeader))
    return broken(at_, "a record of {} bytes", record.header.size);
  if (record.header.size > end_ - at_)
    return broken(at_, "a record of {} bytes, of which {} are there", record.header.size, end_ - at_);
  record.bytes = section({at_, record.header.size});
  at_ += record.header.size;
  if (record.header.type == static_cast<u32>(UserRecord::auxtrace))
    if (auto taken = take_aux(record); !taken) return Failure(taken.error());
  return std::optional(record);
}

/// The bytes behind an AUXTRACE record.
Outcome Reader::State::take_aux(RecordView& record) {
  ByteReader in(record.bytes.subspan(sizeof(RecordHeader)));
  const auto area = in.take<AuxArea>();
  if (!in.ok()) return broken(record.offset, "an AUXTRACE record of {} bytes", record.header.size);
  if (area.bytes > end_ - at_)
    return broken(record.offset, "{} bytes of AUX data, of which {} are there", area.bytes, end_ - at_);
  record.aux = section({at_, area.bytes});
  at_ += area.bytes;
  return Done{};
}

/// Nothing when the record goes on in the next compressed piece.
NextRecord Reader::State::next_plain() {
  const auto rest = std::span<const std::byte>(plain_).subspan(plain_at_);
  RecordView record;
  record.offset = plain_offset_;
  if (rest.size() < sizeof record.header) return std::optional<RecordView>();
  std::memcpy(&record.header, rest.data(), sizeof record.header);
  if (record.header.size < sizeof record.header)
    return broken(plain_offset_, "a compressed record of {} bytes", record.header.size);
  if (record.header.size > rest.size()) return std::optional<RecordView>();
  record.bytes = rest.first(record.header.size);
  plain_at_ += record.header.size;
  return std::optional(record);
}

Outcome Reader::State::decompress(const RecordView& record) {
  if (!decompressor_) decompressor_.emplace();
  plain_.erase(plain_.begin(), plain_.begin() + static_cast<std::ptrdiff_t>(plain_at_));
  plain_at_ = 0;
  plain_offset_ = record.offset;
  auto appended = decompressor_->append_to(plain_, record.bytes.subspan(sizeof(RecordHeader)));
  if (!appended) return broken(record.offset, "{}", appended.error().message);
  return Done{};
}

// --- a stream's own description

Outcome Reader::State::take_header_record(const RecordView& record) {
  const auto payload = record.bytes.subspan(sizeof(RecordHeader));
  switch (static_cast<UserRecord>(record.header.type)) {
    case UserRecord::header_attr:
      if (auto taken = take_attr(payload); !taken) return broken(record.offset, "{}", taken.error().message);
      break;
    case UserRecord::build_id:
      if (!parse_build_id(description_, record.bytes)) return broken(record.offset, "a build id ends early");
      break;
    case UserRecord::event_update:
      take_update(payload);
      break;
    default: {
      ByteReader in(payload);
      const u64 number = in.take<u64>();
      if (!in.ok()) return broken(record.offset, "a feature record without a feature");
      if (number < last_feature_marker &&
          !parse_feature(description_, static_cast<Feature>(number), payload.subspan(sizeof number)))
        return broken(record.offset, "feature {} does not parse", number);
    }
  }
  return Done{};
}

Outcome Reader::State::take_attr(std::span<const std::byte> payload) {
  const auto attr = parse_attr(payload);
  if (!attr) return Failure(Error("an attribute whose size does not fit its record"));
  const auto ids = payload.subspan(attr->size);
  description_.events.push_back({*attr, "", ByteReader(ids).take_all<u64>(ids.size() / sizeof(u64))});
  index_last_event();
  return Done{};
}

void Reader::State::take_update(std::span<const std::byte> payload) {
  ByteReader in(payload);
  const u64 kind = in.take<u64>();
  const auto found = event_of_id_.find(in.take<u64>());
  if (in.ok() && kind == event_update_name && found != event_of_id_.end())
    description_.events[found->second].name = in.take_rest_as_text();
}

void Reader::State::index_last_event() {
  const std::size_t last = description_.events.size() - 1;
  for (const u64 id : description_.events[last].ids) event_of_id_.emplace(id, last);
}

/// All events of a file place the id alike, so that the first one's attribute finds it.
const EventDescription* Reader::State::event_of(const RecordView& record) const {
  const auto& events = description_.events;
  if (events.empty()) return nullptr;
  if (events.size() == 1) return &events.front();
  const auto id = find_id(record, events.front().attr);
  if (!id || *id == 0) return &events.front();
  const auto found = event_of_id_.find(*id);
  return found == event_of_id_.end() ? nullptr : &events[found->second];
}

// --- the handle

Result<Reader, Error> Reader::open(const std::filesystem::path& path) {
  const auto file = InputFile::open(path.string());
  if (!file) return Failure(file.error());
  auto bytes = file->read_all();
  if (!bytes) return Failure(bytes.error());
  return from_memory(path.string(), *std::move(bytes));
}

Result<Reader, Error> Reader::from_memory(std::string name, std::vector<std::byte> bytes) {
  auto state = std::make_unique<State>(std::move(name), std::move(bytes));
  if (auto read = state->read_header(); !read) return Failure(read.error());
  return Reader(std::move(state));
}

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Form Reader::form() const { return state_->form(); }
const std::vector<EventDescription>& Reader::events() const { return state_->description().events; }
const Metadata& Reader::metadata() const { return state_->description().metadata; }
const std::vector<Group>& Reader::groups() const { return state_->description().groups; }
const std::vector<BuildId>& Reader::build_ids() const { return state_->description().build_ids; }
std::optional<std::pair<u64, u64>> Reader::sample_times() const { return state_->description().sample_times; }
Result<std::optional<RecordView>, Error> Reader::next() { return state_->next(); }
const EventDescription* Reader::event_of(const RecordView& record) const { return state_->event_of(record); }

}  // namespace pmusim::perfdata
