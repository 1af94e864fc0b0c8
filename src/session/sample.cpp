// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "perfdata/sample_parser.h"
#include "pmusim/session/record.h"
#include "session/record_sink.h"

namespace pmusim {

/// Keeps the samples among the records, as they were written.
class Samples::State final : public RecordSink {
 public:
  explicit State(perf::SimdAbi simd) : simd_(simd) {}

  std::size_t size() const { return places_.size(); }
  Sample at(std::size_t index) const {
    const Place& place = places_[index];
    const perfdata::EventDescription& event = events_[place.event];
    auto sample = perfdata::parse_sample(view_of(place.offset), event.attr, {counters_[place.event], simd_});
    return {event, std::move(sample).value()};  // the core wrote it
  }

  void add_group(u32 leader, u32 members) override { groups_.push_back({{}, leader, members}); }
  Result<Done, Error> add_event(const perf::Attr& attr, const std::string& name,
                                std::span<const u64> ids) override {
    events_.push_back({attr, name, {ids.begin(), ids.end()}});
    return Done{};
  }
  Result<Done, Error> add_mapping(const trace::Mapping&) override { return Done{}; }
  Result<Done, Error> write(std::span<const std::byte> records) override {
    for (std::size_t at = 0; at < records.size(); at += header_at(records, at).size)
      keep(records.subspan(at, header_at(records, at).size));
    return Done{};
  }
  Result<Done, Error> end_round() override { return Done{}; }
  u64 record_bytes() const override { return bytes_.size(); }

  /// After the last record.
  void finish(const RecordSummary& summary) {
    lost_ = summary.lost_records + summary.lost_samples;
    counters_ = perfdata::branch_counters(events_, groups_);
  }
  u64 lost() const { return lost_; }

 private:
  struct Place {
    std::size_t offset = 0;  ///< in `bytes_`
    std::size_t event = 0;
  };

  static perf::RecordHeader header_at(std::span<const std::byte> records, std::size_t offset) {
    perf::RecordHeader header;
    std::memcpy(&header, &records[offset], sizeof header);
    return header;
  }
  perfdata::RecordView view_of(std::size_t offset) const {
    const perf::RecordHeader header = header_at(bytes_, offset);
    return {header, std::span(bytes_).subspan(offset, header.size), offset};
  }
  void keep(std::span<const std::byte> record) {
    if (header_at(record, 0).type != static_cast<u32>(perf::RecordType::sample)) return;
    const std::size_t offset = bytes_.size();
    bytes_.insert(bytes_.end(), record.begin(), record.end());
    places_.push_back({offset, event_of(view_of(offset))});
  }
  /// Samples of several events have ids, and those of one need none.
  std::size_t event_of(const perfdata::RecordView& record) const {
    const std::optional<u64> id = perfdata::find_id(record, events_.front().attr);
    const auto found = std::find_if(events_.begin(), events_.end(), [&](const auto& event) {
      return id && std::ranges::find(event.ids, *id) != event.ids.end();
    });
    return found == events_.end() ? 0 : static_cast<std::size_t>(found - events_.begin());
  }

  perf::SimdAbi simd_;
  u64 lost_ = 0;
  std::vector<perfdata::EventDescription> events_;
  std::vector<perfdata::Group> groups_;
  std::vector<perfdata::BranchCounters> counters_;  // by event
  std::vector<std::byte> bytes_;
  std::vector<Place> places_;
};

Samples::Samples(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Samples::Samples(Samples&&) noexcept = default;
Samples& Samples::operator=(Samples&&) noexcept = default;
Samples::~Samples() = default;

std::size_t Samples::size() const { return state_->size(); }
Sample Samples::operator[](std::size_t index) const { return state_->at(index); }
u64 Samples::lost() const { return state_->lost(); }

Result<Samples, Error> sample(Session& session, const RecordOptions& options) {
  auto state = std::make_unique<Samples::State>(perf::simd_abi(session.kernel()));
  const Result<RecordSummary, Error> summary = replay_into(*state, session, options);
  if (!summary.ok()) return Failure(summary.error());
  state->finish(*summary);
  return Samples(std::move(state));
}

}  // namespace pmusim
