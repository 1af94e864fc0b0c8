// SPDX-License-Identifier: MIT
#include "driver/intel/samples/run_writer.h"

#include <algorithm>
#include <utility>

#include "driver/intel/samples/record_copy.h"

namespace pmusim::driver {

void RunWriter::begin(PebsHost& host, const EventMap& events, const InterruptFrame& frame) {
  host_ = &host;
  events_ = &events;
  frame_ = &frame;
  lane_of_.fill(&unknown_);
  cursor_count_ = 0;
}

RunWriter::Cursor* RunWriter::cursor_of(perf::RingBuffer& ring) {
  for (Cursor& cursor : cursors())
    if (cursor.ring == &ring) return &cursor;
  Cursor& added = cursors_[cursor_count_++];
  added.ring = &ring;
  added.open();
  return &added;
}

const RunWriter::Lane* RunWriter::learn(RecordPlace place, std::span<const std::byte> buffer) {
  const perf::Event& event = *(*events_)[place.counter()];
  if (counts_from_records(event)) return &not_copied_;
  const auto sample = host_->sink().sample_template(event, *frame_);
  if (!sample) return &not_copied_;
  const auto plan =
      planner_.plan(event, *sample, Demultiplexer::record_at(buffer, place), host_->plain_branches(event));
  if (!plan) return &not_copied_;
  Lane& lane = lanes_[place.counter()];
  lane.cursor = cursor_of(*sample->ring);
  lane.plan = *plan;
  return &lane;
}

void RunWriter::publish() {
  for (const Cursor& cursor : cursors())
    if (cursor.at != cursor.ring->window().data()) cursor.ring->publish_up_to(cursor.at);
}

/// Samples of one shape, up to one that is of another or is none for a copy.
template <unsigned shape>
std::size_t RunWriter::write_alike(Run run) {
  // Over a long record the processor does not get to see the next one early enough.
  constexpr std::size_t ahead = is_wide(shape) ? 1 : Demultiplexer::prefetch_distance;
  constexpr auto prefetch =
      is_wide(shape) ? Demultiplexer::prefetch<std::dynamic_extent> : Demultiplexer::prefetch<>;
  const bool fetch_ahead = is_wide(shape) || run.fetch_ahead;
  std::size_t i = 0;
  for (; i < run.places.size(); ++i) {
    if (fetch_ahead && i + ahead < run.places.size())
      prefetch(Demultiplexer::record_at(run.buffer, run.places[i + ahead]));
    const Lane& lane = *lane_of_[run.places[i].counter()];
    const SamplePlan& plan = lane.plan;
    if (plan.shape != shape) break;
    const std::byte* const record = run.buffer.data() + run.places[i].offset();
    Cursor& cursor = *lane.cursor;
    if (!is_of<shape>(record, plan.record) ||
        static_cast<std::size_t>(cursor.end - cursor.at) < plan.most_bytes)
      break;
    std::byte* const end = copy_record<shape>(plan, record, cursor.at);
    if (end == nullptr) break;
    cursor.at = end;
  }
  return i;
}

namespace {

/// Whether records of others lie between those of the run, so that the processor sees no pattern.
bool are_scattered(std::span<const RecordPlace> places) {
  return !places.empty() &&
         places.back().offset() - places.front().offset() > 2 * places.size() * places.front().bytes();
}

}  // namespace

std::size_t RunWriter::write(std::span<const std::byte> buffer, std::span<const RecordPlace> places) {
  static constexpr auto by_shape = loops(std::make_index_sequence<plan_shapes>());
  for (Cursor& cursor : cursors()) cursor.open();
  const bool fetch_ahead = buffer.size() > Demultiplexer::cached_bytes || are_scattered(places);
  std::size_t done = 0;
  while (done < places.size()) {
    const Lane*& lane = lane_of_[places[done].counter()];
    if (lane == &unknown_) lane = learn(places[done], buffer);
    if (lane == &not_copied_) break;
    const std::size_t more = (this->*by_shape[lane->plan.shape])({buffer, places.subspan(done), fetch_ahead});
    if (more == 0) break;
    done += more;
  }
  publish();
  return done;
}

}  // namespace pmusim::driver
