// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "perfdata/file_format.h"
#include "perfdata/member_counts.h"
#include "perfdata/sample_parser.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::perfdata {

using Outcome = Result<Done, Error>;

/// Records wait in a queue until nothing older can come. A FINISHED_ROUND record says that all that is older
/// than the newest record of the round before may go.
class SampleReader::State {
 public:
  explicit State(Reader reader) : file(std::move(reader)) {}

  Result<std::optional<EventSample>, Error> next();
  std::vector<std::string> warnings() const;

  Reader file;
  Processes processes;
  std::string name;  // of the file, where it is known

 private:
  /// Of what is wrong with a record's fields, with the file's name in front. Errors of `file` have it.
  Failure<Error> broken(std::string_view sentence) const {
    return Failure(Error(fmt::format("{}{}{}", name, name.empty() ? "" : ": ", sentence)));
  }

  struct Waiting {
    u64 time = 0;
    std::vector<std::byte> bytes;
    u64 offset = 0;
    RecordView view() const {
      perf::RecordHeader header;
      std::memcpy(&header, bytes.data(), sizeof header);
      return {header, bytes, offset};
    }
  };

  Outcome fill();
  void queue(const RecordView& record);
  void release(u64 newest);
  BranchCounters counters_of(const EventDescription& event);
  Result<EventSample, Error> sample_of(const EventDescription& event, const RecordView& record);
  void deliver_members(const EventSample& sample);
  void leave_out(u64 offset);

  std::vector<Waiting> waiting_;     // in file order
  std::deque<Waiting> ready_;        // in order of time
  std::deque<EventSample> members_;  // of a group, of a sample with counts
  MemberCounts counts_;
  u64 newest_ = 0, newest_before_round_ = 0;
  bool at_end_ = false;
  u64 left_out_ = 0, first_left_out_ = 0;  // samples of no event of the file: how many, an offset
  std::vector<BranchCounters> counters_;   // by event, when they are known
};

namespace {

u64 time_of(const RecordView& record, const EventDescription* event) {
  if (event == nullptr) return 0;
  const auto time = find_time(record, event->attr);
  return time.value_or(0);
}

}  // namespace

void SampleReader::State::queue(const RecordView& record) {
  const u64 time = time_of(record, file.event_of(record));
  newest_ = std::max(newest_, time);
  waiting_.push_back({time, {record.bytes.begin(), record.bytes.end()}, record.offset});
}

/// Makes what is not newer than `newest` ready.
void SampleReader::State::release(u64 newest) {
  std::ranges::stable_sort(waiting_, {}, &Waiting::time);
  const auto end = std::ranges::upper_bound(waiting_, newest, {}, &Waiting::time);
  std::move(waiting_.begin(), end, std::back_inserter(ready_));
  waiting_.erase(waiting_.begin(), end);
}

Outcome SampleReader::State::fill() {
  while (ready_.empty() && !at_end_) {
    auto record = file.next();
    if (!record) return Failure(record.error());
    if (!*record) {
      at_end_ = true;
      release(~u64{0});
    } else if ((*record)->header.type == static_cast<u32>(UserRecord::finished_round)) {
      release(newest_before_round_);
      newest_before_round_ = newest_;
    } else if ((*record)->header.type < static_cast<u32>(UserRecord::header_attr)) {
      queue(**record);
    }
  }
  return Done{};
}

BranchCounters SampleReader::State::counters_of(const EventDescription& event) {
  const auto& events = file.events();
  if (counters_.size() != events.size()) counters_ = branch_counters(events, file.groups());
  return counters_[static_cast<std::size_t>(&event - events.data())];
}

Result<EventSample, Error> SampleReader::State::sample_of(const EventDescription& event,
                                                          const RecordView& record) {
  auto sample = parse_sample(record, event.attr, {.counters = counters_of(event), .simd = std::nullopt});
  if (!sample) return broken(sample.error().message);
  return EventSample{event, std::move(*sample), record.offset};
}

/// As perf does.
void SampleReader::State::leave_out(u64 offset) {
  if (left_out_++ == 0) first_left_out_ = offset;
}

std::vector<std::string> SampleReader::State::warnings() const {
  std::vector<std::string> all = file.warnings();
  if (left_out_ != 0)
    all.push_back(
        fmt::format("{} sample{} left out: no event of the file has the id (the first is at offset {:#x})",
                    left_out_, left_out_ == 1 ? " is" : "s are", first_left_out_));
  return all;
}

void SampleReader::State::deliver_members(const EventSample& sample) {
  for (const MemberCount& member : counts_.take(file, sample.sample)) {
    if (member.event == nullptr) {
      leave_out(sample.offset);
      continue;
    }
    EventSample one{*member.event, sample.sample, sample.offset};
    one.sample.who.id = member.id;
    one.sample.period = member.counted;
    members_.push_back(std::move(one));
  }
}

Result<std::optional<EventSample>, Error> SampleReader::State::next() {
  while (true) {
    if (!members_.empty()) {
      std::optional<EventSample> first(std::move(members_.front()));
      members_.pop_front();
      return first;
    }
    if (auto filled = fill(); !filled) return Failure(filled.error());
    if (ready_.empty()) return std::optional<EventSample>();
    const Waiting first = std::move(ready_.front());
    ready_.pop_front();
    const RecordView record = first.view();
    if (record.header.type == static_cast<u32>(perf::RecordType::sample)) {
      const EventDescription* const event = file.event_of(record);
      if (event == nullptr) {
        leave_out(record.offset);
        continue;
      }
      auto sample = sample_of(*event, record);
      if (!sample) return Failure(sample.error());
      if (!has_member_counts(event->attr)) return std::optional<EventSample>(std::move(*sample));
      deliver_members(*sample);
    } else {
      processes.take(record);
    }
  }
}

Result<SampleReader, Error> SampleReader::open(const std::filesystem::path& path) {
  auto file = Reader::open(path);
  if (!file) return Failure(file.error());
  SampleReader samples(std::move(*file));
  samples.state_->name = path.string();
  return samples;
}

SampleReader::SampleReader(Reader file) : state_(std::make_unique<State>(std::move(file))) {}
SampleReader::SampleReader(SampleReader&&) noexcept = default;
SampleReader& SampleReader::operator=(SampleReader&&) noexcept = default;
SampleReader::~SampleReader() = default;

const Reader& SampleReader::file() const { return state_->file; }
std::vector<std::string> SampleReader::warnings() const { return state_->warnings(); }
const Processes& SampleReader::processes() const { return state_->processes; }
Result<std::optional<EventSample>, Error> SampleReader::next() { return state_->next(); }

}  // namespace pmusim::perfdata
