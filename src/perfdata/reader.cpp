// SPDX-License-Identifier: MIT
#include "pmusim/perfdata/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "perfdata/attr_parser.h"
#include "perfdata/byte_reader.h"
#include "perfdata/event_name.h"
#include "perfdata/feature_parser.h"
#include "perfdata/input.h"
#include "perfdata/record_stream.h"
#include "perfdata/sample_parser.h"

namespace pmusim::perfdata {

using perf::RecordHeader;
using perf::RecordType;
using Outcome = Result<Done, Error>;
using NextRecord = Result<std::optional<RecordView>, Error>;

class Reader::State {
 public:
  explicit State(std::shared_ptr<const Input> input) : input_(std::move(input)), file_(input_->head.bytes) {
    description_.metadata = {.arch = "", .cpus = 0};
  }

  Outcome read_header();
  NextRecord next();
  const EventDescription* event_of(const RecordView& record) const;
  const EventDescription* event_with(u64 id) const;
  std::vector<std::string> warnings() const;
  Form form() const { return form_; }
  const Description& description() const { return description_; }
  const std::shared_ptr<const Input>& input() const { return input_; }

 private:
  Outcome read_file_header();
  Outcome read_attrs(const FileHeader& header);
  Outcome read_attr(std::span<const std::byte> entry, u64 offset);
  void read_features(const FileHeader& header);
  void read_feature(unsigned number, u64 row);
  RecordStream data_stream(const FileHeader& header);
  Outcome read_stream_start();
  NextRecord next_of_any_kind();
  Outcome take_header_record(const RecordView& record);
  Outcome take_attr(std::span<const std::byte> payload);
  void take_update(std::span<const std::byte> payload);
  void add_event(const perf::Attr& attr, std::span<const std::byte> image, std::span<const std::byte> ids);
  void name_events();
  void warn(std::string sentence);
  void warn_of_missing_records(const FileHeader& header);
  std::span<const std::byte> section(const Section& s) const;
  template <class... Arguments>
  Failure<Error> broken(u64 offset, fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    return Failure(
        broken_at(input_->head.name, offset, fmt::format(text, std::forward<Arguments>(arguments)...)));
  }

  std::shared_ptr<const Input> input_;
  std::span<const std::byte> file_;
  Form form_ = Form::file;
  Description description_;
  std::unordered_map<u64, std::size_t> event_of_id_;
  std::vector<RecordStream> streams_;  // one, or of a directory one for each of its files
  std::size_t stream_ = 0;             // that is read now
  std::optional<RecordView> pushed_back_;
  std::vector<std::string> warnings_;
  std::set<unsigned> unread_features_;  // their numbers
  bool is_described_ = false;           // a stream, by its first records
  std::map<u32, u64> unknown_records_;  // by type, how many
};

namespace {

bool is_header_record(u32 type) {
  constexpr std::array all = {UserRecord::header_attr, UserRecord::tracing_data, UserRecord::build_id,
                              UserRecord::event_update, UserRecord::header_feature};
  return std::ranges::find(all, static_cast<UserRecord>(type)) != all.end();
}

bool is_known(u32 type) {
  constexpr auto first_of_tools = static_cast<u32>(UserRecord::header_attr);
  return (type >= static_cast<u32>(RecordType::mmap) &&
          type <= static_cast<u32>(RecordType::callchain_deferred)) ||
         (type >= first_of_tools && type <= last_user_record);
}

/// The size of the data and the features are written last: a recorder that was killed leaves neither.
bool is_unfinished(const FileHeader& header) {
  return header.data.size == 0 && std::ranges::all_of(header.features, [](u64 bits) { return bits == 0; });
}

std::string unread_features_sentence(const std::set<unsigned>& features) {
  std::vector<std::string> names;
  for (const unsigned number : features) names.push_back(feature_name(number));
  return fmt::format("metadata that is cut or damaged is left out: {}", fmt::join(names, ", "));
}

std::string unknown_records_sentence(const std::map<u32, u64>& by_type) {
  constexpr std::size_t most_types = 8;
  std::string list;
  for (std::size_t n = 0; const auto& [type, records] : by_type)
    if (n++ < most_types) list += fmt::format("{}{} of type {}", list.empty() ? "" : ", ", records, type);
  if (by_type.size() > most_types) list += ", ...";
  return fmt::format("records that are unknown here are left out ({}): samples may be missing", list);
}

}  // namespace

std::span<const std::byte> Reader::State::section(const Section& s) const {
  if (s.offset > file_.size() || s.size > file_.size() - s.offset) return {};
  return file_.subspan(static_cast<std::size_t>(s.offset), static_cast<std::size_t>(s.size));
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
  const Section& data = header.data;
  if (data.size == 0 && data.offset == 0) return broken(40, "no data section: the file was not finished");
  if (data.offset > file_.size())
    return broken(40, "the data section begins at {:#x}, behind the end of the file at {:#x}", data.offset,
                  file_.size());
  if (auto attrs = read_attrs(header); !attrs) return attrs;
  read_features(header);
  if (description_.directory_version.value_or(1) != 1)
    return broken(0, "a directory of format {}; expected 1", *description_.directory_version);
  name_events();
  streams_.push_back(data_stream(header));
  for (const InputBytes& part : input_->parts)
    streams_.emplace_back(part.name, part.bytes, 0, RecordStream::End::anywhere);
  warn_of_missing_records(header);
  return Done{};
}

/// What of the data section is there. The records of an unfinished file go to its end.
RecordStream Reader::State::data_stream(const FileHeader& header) {
  const Section& data = header.data;
  const u64 there = file_.size() - data.offset;
  if (there != 0 && is_unfinished(header)) {
    warn("its recorder did not finish it: there is no metadata, and records are read to the end of the file");
    return {input_->head.name, section({data.offset, there}), data.offset, RecordStream::End::anywhere};
  }
  if (data.size <= there)
    return {input_->head.name, section(data), data.offset, RecordStream::End::of_record};
  warn(fmt::format("the file ends at {:#x}, within its data section; missing bytes: {} of {}", file_.size(),
                   data.size - there, data.size));
  return {input_->head.name, section({data.offset, there}), data.offset, RecordStream::End::anywhere};
}

void Reader::State::warn_of_missing_records(const FileHeader& header) {
  if (!input_->parts.empty()) return;
  if ((header.features[0] & bit(static_cast<unsigned>(Feature::directory_format))) != 0)
    warn(
        "is the file 'data' of a directory that perf record --threads wrote: the samples are in data.0, "
        "data.1, ... there; give the directory");
  else if (header.data.size == 0 && header.data.offset < file_.size() && !is_unfinished(header))
    warn("its data section is empty though bytes follow: the recorder did not finish it");
}

Outcome Reader::State::read_attrs(const FileHeader& header) {
  const auto all = section(header.attrs);
  if (all.size() != header.attrs.size) return broken(24, "the attribute section lies outside the file");
  if (header.attr_size < 64 + sizeof(Section) || header.attr_size > 4096)
    return broken(16, "attribute entries of {} bytes", header.attr_size);
  const auto entry_bytes = static_cast<std::size_t>(header.attr_size);
  u64 all_ids = 0;
  for (std::size_t i = 0; i + entry_bytes <= all.size(); i += entry_bytes) {
    const u64 offset = header.attrs.offset + i;
    if (auto read = read_attr(all.subspan(i, entry_bytes), offset); !read) return read;
    all_ids += description_.events.back().ids.size() * sizeof(u64);
    if (all_ids > file_.size()) return broken(offset, "the ids of the events are larger than the file");
  }
  return Done{};
}

/// An attribute and the section of its ids.
Outcome Reader::State::read_attr(std::span<const std::byte> entry, u64 offset) {
  const auto image = entry.first(entry.size() - sizeof(Section));
  const auto attr = parse_attr(image);
  if (!attr) return broken(offset, "attr.size does not fit in an entry of {} bytes", entry.size());
  if (attr->size != image.size())
    warn(fmt::format("attributes say that they have {} bytes where the file has {} for each", attr->size,
                     image.size()));
  Section ids;
  std::memcpy(&ids, entry.data() + image.size(), sizeof ids);
  const auto id_bytes = section(ids);
  if (id_bytes.size() != ids.size) return broken(offset, "the ids of this event lie outside the file");
  add_event(*attr, image, id_bytes);
  return Done{};
}

/// A row of the table for each feature, right behind the data. Samples can be read without any of them.
void Reader::State::read_features(const FileHeader& header) {
  u64 row = header.data.offset + header.data.size;
  for (unsigned number = 0; number < 256; ++number) {
    if ((header.features[number / 64] & bit(number % 64)) == 0) continue;
    read_feature(number, row);
    row += sizeof(Section);
  }
}

void Reader::State::read_feature(unsigned number, u64 row) {
  ByteReader in(section({row, sizeof(Section)}));
  const auto where = in.take<Section>();
  const auto payload = section(where);
  const bool is_there = in.ok() && payload.size() == where.size;
  if (!is_there || !parse_feature(description_, static_cast<Feature>(number), payload))
    unread_features_.insert(number);
}

/// A stream describes itself in its first records.
Outcome Reader::State::read_stream_start() {
  form_ = Form::pipe;
  constexpr std::size_t start = sizeof(PipeHeader);
  streams_.emplace_back(input_->head.name, file_.subspan(start), start, RecordStream::End::anywhere);
  auto first = next();
  if (!first) return Failure(first.error());
  pushed_back_ = *first;
  name_events();
  is_described_ = true;
  return Done{};
}

NextRecord Reader::State::next() {
  if (pushed_back_) return std::exchange(pushed_back_, std::nullopt);
  while (true) {
    auto record = next_of_any_kind();
    if (!record || !*record) return record;
    const u32 type = (*record)->header.type;
    if (!is_known(type)) ++unknown_records_[type];
    const bool round_of_one_file =
        type == static_cast<u32>(UserRecord::finished_round) && streams_.size() > 1;
    if (round_of_one_file) continue;
    if (form_ == Form::file || !is_header_record(type)) return record;
    if (auto taken = take_header_record(**record); !taken) return Failure(taken.error());
  }
}

NextRecord Reader::State::next_of_any_kind() {
  for (; stream_ < streams_.size(); ++stream_) {
    auto record = streams_[stream_].next();
    if (!record || *record) return record;
  }
  return std::optional<RecordView>();
}

/// Once, however many events it is true of.
void Reader::State::warn(std::string sentence) {
  if (std::ranges::find(warnings_, sentence) == warnings_.end()) warnings_.push_back(std::move(sentence));
}

std::vector<std::string> Reader::State::warnings() const {
  std::vector<std::string> all = warnings_;
  for (const RecordStream& stream : streams_)
    if (stream.cut())
      all.push_back((streams_.size() > 1 ? stream.name() + ": " : "") + sentence_of(*stream.cut()));
  if (!unread_features_.empty()) all.push_back(unread_features_sentence(unread_features_));
  if (!unknown_records_.empty()) all.push_back(unknown_records_sentence(unknown_records_));
  return all;
}

// --- a stream's own description

Outcome Reader::State::take_header_record(const RecordView& record) {
  const auto payload = record.bytes.subspan(sizeof(RecordHeader));
  switch (static_cast<UserRecord>(record.header.type)) {
    case UserRecord::header_attr:
      if (auto taken = take_attr(payload); !taken) return broken(record.offset, "{}", taken.error().message);
      break;
    case UserRecord::tracing_data:
      description_.tracepoints = tracepoint_names(record.aux);
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
      const bool is_feature = number < last_feature_marker;
      if (is_feature &&
          !parse_feature(description_, static_cast<Feature>(number), payload.subspan(sizeof number)))
        unread_features_.insert(static_cast<unsigned>(number));
    }
  }
  return Done{};
}

Outcome Reader::State::take_attr(std::span<const std::byte> payload) {
  const auto attr = parse_attr(payload);
  if (!attr) return Failure(Error("an attribute whose size does not fit its record"));
  add_event(*attr, payload.first(attr->size), payload.subspan(attr->size));
  return Done{};
}

void Reader::State::take_update(std::span<const std::byte> payload) {
  ByteReader in(payload);
  const u64 kind = in.take<u64>();
  const auto found = event_of_id_.find(in.take<u64>());
  if (in.ok() && kind == event_update_name && found != event_of_id_.end())
    description_.events[found->second].name = in.take_rest_as_text();
}

void Reader::State::add_event(const perf::Attr& attr, std::span<const std::byte> image,
                              std::span<const std::byte> ids) {
  const std::size_t number = description_.events.size();
  if (const std::string parts = unknown_parts(image); !parts.empty())
    warn(
        fmt::format("attributes have what is unknown here ({}): the file is of a newer perf, and its samples "
                    "may have more than is shown",
                    parts));
  description_.events.push_back({attr, "", ByteReader(ids).take_all<u64>(ids.size() / sizeof(u64))});
  for (const u64 id : description_.events.back().ids) event_of_id_.emplace(id, number);
  if (is_described_) name_events();
}

/// Those that the file has no name for.
void Reader::State::name_events() {
  for (EventDescription& event : description_.events) {
    if (!event.name.empty()) continue;
    const bool is_tracepoint = event.attr.type == static_cast<u32>(perf::EventType::tracepoint);
    const auto found = description_.tracepoints.find(event.attr.config);
    const bool is_found = is_tracepoint && found != description_.tracepoints.end();
    event.name = is_found ? found->second : event_name(event.attr);
  }
}

/// All events of a file place the id alike, so that the first one's attribute finds it.
const EventDescription* Reader::State::event_of(const RecordView& record) const {
  const auto& events = description_.events;
  if (events.empty()) return nullptr;
  if (events.size() == 1) return &events.front();  // whatever its id
  const auto id = find_id(record, events.front().attr);
  return id && *id != 0 ? event_with(*id) : &events.front();
}

const EventDescription* Reader::State::event_with(u64 id) const {
  const auto& events = description_.events;
  if (events.size() == 1) return &events.front();
  const auto found = event_of_id_.find(id);
  return found == event_of_id_.end() ? nullptr : &events[found->second];
}

// --- the handle

Result<Reader, Error> Reader::of(std::shared_ptr<const Input> input) {
  auto state = std::make_unique<State>(std::move(input));
  if (auto read = state->read_header(); !read) return Failure(read.error());
  return Reader(std::move(state));
}

Result<Reader, Error> Reader::open(const std::filesystem::path& path) {
  auto input = read_input(path);
  if (!input) return Failure(input.error());
  return of(std::make_shared<const Input>(*std::move(input)));
}

Result<Reader, Error> Reader::from_memory(std::string name, std::vector<std::byte> bytes) {
  return of(std::make_shared<const Input>(Input{{std::move(name), std::move(bytes)}, {}}));
}

/// What was read once is read again.
Reader Reader::from_start() const { return of(state_->input()).value(); }

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
std::vector<std::string> Reader::warnings() const { return state_->warnings(); }
Result<std::optional<RecordView>, Error> Reader::next() { return state_->next(); }
const EventDescription* Reader::event_of(const RecordView& record) const { return state_->event_of(record); }
const EventDescription* Reader::event_with(u64 id) const { return state_->event_with(id); }

}  // namespace pmusim::perfdata
