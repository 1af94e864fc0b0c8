// SPDX-License-Identifier: MIT
#include "driver/samples/run_writer.h"

#include <algorithm>
#include <utility>

#include "driver/samples/record_copy.h"

namespace pmusim::driver {

void RunWriter::begin(PebsHost& host, const EventMap& events, const InterruptFrame& frame) {
  host_ = &host;
  events_ = &events;
  frame_ = &frame;
  known_ = {};
  cursors_.clear();
}

unsigned RunWriter::number_of(perf::RingBuffer& ring) {
  const auto found = std::ranges::find_if(cursors_, [&](const Cursor& c) { return c.ring == &ring; });
  if (found == cursors_.end()) {
    cursors_.emplace_back().open(ring);
    return static_cast<unsigned>(cursors_.size() - 1);
  }
  return static_cast<unsigned>(found - cursors_.begin());
}

const SamplePlan* RunWriter::plan_for(RecordPlace place, std::span<const std::byte> buffer) {
  const unsigned counter = place.counter();
  if (known_[counter] == Knowledge::none) {
    known_[counter] = Knowledge::unplannable;
    const perf::Event& event = *(*events_)[counter];
    const auto sample = host_->sink().sample_template(event, *frame_);
    if (!sample) return nullptr;
    const auto plan =
        planner_.plan(event, *sample, Demultiplexer::record_at(buffer, place), host_->plain_branches(event));
    if (!plan) return nullptr;
    known_[counter] = Knowledge::planned;
    plans_[counter] = *plan;
    plans_[counter].ring = number_of(*sample->ring);
  }
  return known_[counter] == Knowledge::planned ? &plans_[counter] : nullptr;
}

void RunWriter::open_rings() {
  for (Cursor& cursor : cursors_) cursor.open(*cursor.ring);
}

void RunWriter::publish() {
  for (const Cursor& cursor : cursors_)
    if (cursor.at != cursor.ring->window().data()) cursor.ring->publish_up_to(cursor.at);
}

/// Samples of one shape, up to one that is of another or is none for a copy.
template <unsigned shape>
std::size_t RunWriter::write_alike(Run run) {
  const std::size_t ahead =
      run.buffer.size() > Demultiplexer::cached_bytes ? Demultiplexer::prefetch_distance : run.places.size();
  std::size_t i = 0;
  for (; i < run.places.size(); ++i) {
    if (i + ahead < run.places.size())
      Demultiplexer::prefetch(Demultiplexer::record_at(run.buffer, run.places[i + ahead]));
    const unsigned counter = run.places[i].counter();
    const SamplePlan& plan = plans_[counter];
    if (known_[counter] != Knowledge::planned || plan.shape.number() != shape) break;
    const std::byte* const record = run.buffer.data() + run.places[i].offset();
    Cursor& cursor = cursors_[plan.ring];
    if (!is_of(record, plan.record) || static_cast<std::size_t>(cursor.end - cursor.at) < plan.most_bytes)
      break;
    std::byte* const end = copy_record<shape>(plan, record, cursor.at);
    if (end == nullptr) break;
    cursor.at = end;
  }
  return i;
}

std::size_t RunWriter::write(std::span<const std::byte> buffer, std::span<const RecordPlace> places) {
  static constexpr auto by_shape = loops(std::make_index_sequence<plan_shapes>());
  open_rings();
  std::size_t done = 0;
  while (done < places.size()) {
    const SamplePlan* plan = plan_for(places[done], buffer);
    if (plan == nullptr) break;
    const std::size_t more = (this->*by_shape[plan->shape.number()])({buffer, places.subspan(done)});
    if (more == 0) break;
    done += more;
  }
  publish();
  return done;
}

}  // namespace pmusim::driver
