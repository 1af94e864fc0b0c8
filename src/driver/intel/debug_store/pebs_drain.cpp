// SPDX-License-Identifier: MIT
#include "arch/rdpmc.h"
#include "driver/intel/debug_store/pebs.h"
#include "driver/intel/samples/pebs_sample.h"
#include "driver/intel/samples/recorded_counts.h"
#include "driver/intel/samples/run_writer.h"
#include "driver/x86/constraint.h"
#include "driver/x86/linux_changes.h"

namespace pmusim::driver {

/// One drain: what the demultiplexer finds becomes samples, losses and counts.
class PebsDriver::Delivery {
 public:
  Delivery(PebsDriver& driver, DrainTrigger trigger, const EventMap& events, const InterruptFrame* frame)
      : driver_(driver), in_interrupt_(trigger == DrainTrigger::interrupt), events_(events) {
    if (frame != nullptr) frame_ = *frame;
  }

  void sample(unsigned counter, std::span<const std::byte> record, Place place) {
    perf::Event& event = *events_[counter];
    driver_.samples_->set_counts(driver_.counts_->at_sample(event, record));
    const perf::SampleData& data = driver_.samples_->build(event, record, frame_);
    perf::SampleSink& sink = driver_.host_.sink();
    if (place == Place::middle || !in_interrupt_) {
      sink.output(event, data, frame_);
    } else if (sink.overflow(event, data, frame_) == perf::SampleSink::Verdict::stop) {
      driver_.host_.stop(event);
    }
  }

  /// Copied where that is all there is to it.
  void run(std::span<const std::byte> buffer, std::span<const RecordPlace> places) {
    driver_.runs_->begin(driver_.host_, events_, frame_);
    for (std::size_t done = 0; done < places.size(); ++done) {
      done += driver_.runs_->write(buffer, places.subspan(done));
      if (done == places.size()) return;
      const RecordPlace place = places[done];
      sample(place.counter(), Demultiplexer::record_at(buffer, place), Place::middle);
    }
  }

  void lost(unsigned counter, u64 samples) {
    perf::Event& event = *events_[counter];
    perf::SampleSink& sink = driver_.host_.sink();
    sink.lost_samples(event, samples);
    if (in_interrupt_ && sink.account_interrupt(event) == perf::SampleSink::Verdict::stop)
      driver_.host_.stop(event);
  }

  /// Before Linux 6.14 the count came first, and an interval that it found unfinished had no samples.
  bool begins(unsigned counter, u64 samples) {
    return samples_before_count() || bring_up_to_date(counter, samples) == Interval::over;
  }

  void finished(unsigned counter, u64 samples) {
    if (samples_before_count() && samples != 0) static_cast<void>(bring_up_to_date(counter, samples));
  }

 private:
  bool samples_before_count() const {
    return perf::has(driver_.enumeration_.kernel, change::overflow_before_rearming);
  }

  Interval bring_up_to_date(unsigned counter, u64 samples) {
    perf::Event& event = *events_[counter];
    const bool reloads = has_flag(event, pebs_flag::AUTO_RELOAD);
    if (driver_.counts_->taken_by_samples(event)) {
      if (!reloads && samples != 0) driver_.host_.restart(event);
    } else if (reloads) {
      driver_.account_reload(event, counts_from_records(event) ? 0 : samples);
    } else if (samples != 0) {
      return driver_.host_.update_and_restart(event);
    }
    return Interval::over;
  }

  PebsDriver& driver_;
  bool in_interrupt_;
  const EventMap& events_;
  InterruptFrame frame_;
};

void PebsDriver::drain(DrainTrigger trigger, EventMap events, const InterruptFrame* frame) {
  if (!available()) return;
  // A sample that reads its group, or an event that stops, in mid-drain: the buffer has been emptied.
  if (draining_) return update_without_records(events);
  draining_ = true;
  DemuxSetup setup{.format = enumeration_.pebs_format,
                   .enabled = 0,
                   .enable_word = enable_word_,
                   .record_bytes = record_bytes_,
                   .order = drain_order()};
  for (const unsigned counter : set_bits(enabled_))
    if (events[counter] != nullptr) setup.enabled |= bit(counter);

  const std::span<std::byte> buffer = take_records();
  counts_->take(buffer, setup.enabled, {events, host_.metrics()});
  Delivery delivery(*this, trigger, events, frame);
  totals_ += demultiplexer_.run(buffer, setup, delivery);
  if (buffer.empty()) update_without_records(events);
  draining_ = false;
}

/// As in Linux, counters that left no record are brought up to date where none left one.
void PebsDriver::update_without_records(const EventMap& events) {
  for (const unsigned counter : set_bits(enabled_ & reached_by_empty_drains()))
    if (events[counter] != nullptr && has_flag(*events[counter], pebs_flag::AUTO_RELOAD))
      account_reload(*events[counter], 0);
}

u64 PebsDriver::reached_by_empty_drains() const {
  constexpr u64 number_of_counters = 64;
  const bool slips =
      enumeration_.arch_pebs() && perf::has(enumeration_.kernel, change::empty_drains_as_in_7_3);
  return slips ? number_of_counters : ~u64{0};
}

bool PebsDriver::holds_records() const {
  if (!available()) return false;
  return enumeration_.arch_pebs() ? arch_buffer_.holds_records()
                                  : area_.holds_records(DebugStoreArea::Writer::pebs);
}

std::span<std::byte> PebsDriver::take_records() {
  return enumeration_.arch_pebs() ? arch_buffer_.take(arch_threshold())
                                  : area_.take(DebugStoreArea::Writer::pebs);
}

/// Each of the `overflows` took the counter from 0 back to minus the period.
void PebsDriver::account_reload(perf::Event& event, u64 overflows) {
  const u64 raw = read_counter(counter_of(event));
  const unsigned sign = enumeration_.counter_width - 1;
  const u64 now = sign_extend(raw, sign), before = sign_extend(event.hw.previous_count, sign);
  event.hw.previous_count = raw;
  event.count += now - before + overflows * event.hw.sample_period;
  event.hw.period_left = -static_cast<i64>(now);
}

u64 PebsDriver::read_counter(unsigned counter) { return access_.rdpmc(rdpmc::ecx_of(counter)).value_or(0); }

}  // namespace pmusim::driver
